import Foundation
import TestSupport
import Testing

private let screenshotDirectory = ProcessInfo.processInfo.environment["LETSSWITCH_SCREENSHOTS"]

/// The pictures of README.md and QUESTIONS.md, made by `make screenshots`. Their directory is that of the features,
/// `Sources/Features`.
@Suite(
    .enabled(if: screenshotDirectory != nil && Chromium.isInstalled, "LETSSWITCH_SCREENSHOTS names no directory"))
struct PageScreenshots {
    @Test("Screenshots show day, registration, waiting room and countdown, on desktop and phone")
    func screenshots() async throws {
        try await PageWorld.run { world in
            for (device, title, hour) in [
                ("ada", "History essay", 15), ("ada", "Water the plants", 18), ("bob", "Tidy the kitchen", 18),
                ("cleo", "Latin", 14), ("cleo", "Latin", 17), ("cleo", "Latin", 21),
            ] {
                try await world.register(device, title, at: PageWorld.hour(hour))
            }
            let desk = try await world.visit(
                .init(width: 1120, height: 860, reducesMotion: false, device: "ada"))
            let phone = try await world.visit(
                .init(
                    width: 390, height: 780, isPhone: true, isDark: true, reducesMotion: false, device: "bob"))
            try await Self.keep(desk, "Schedule/Page/Screenshots/day-desktop")
            try await Self.keep(phone, "Schedule/Page/Screenshots/day-phone")
            for (page, name) in [(desk, "desktop"), (phone, "phone")] {
                try await page.click("\(BrowserPage.row("14:00")) button")
                try await page.type("Piano, slowly")
                try await Self.keep(page, "Schedule/Page/Screenshots/registration-\(name)")
                try await page.press(.escape)
            }
            // The first full minute that is at least 62 s away.
            let now = Date.now.timeIntervalSince1970
            let start = Date(timeIntervalSince1970: ((now + 62) / 60).rounded(.up) * 60)
            try await world.register("ada", "History essay", at: start)
            try await world.register("bob", "Tidy the kitchen", at: start)
            for page in [desk, phone] {
                try await page.wait(until: "!document.querySelector('#next-enter').hidden", within: .seconds(130))
                try await page.click("#next-enter")
                try await page.wait(until: "document.querySelector('#link').dataset.state === 'open'")
            }
            for (page, name) in [(desk, "desktop"), (phone, "phone")] {
                try await Self.keep(page, "Schedule/Page/Screenshots/room-\(name)")
            }
            try await desk.wait(until: "document.querySelector('#count').innerText === '4'", within: .seconds(70))
            for page in [phone, phone, desk] { try await page.click("#ale") }
            try await desk.wait(until: "document.querySelector('#count').innerText === '3'")
            try await desk.wait(
                until: "document.querySelector('#count').getAnimations().every(a => a.currentTime > 600)")
            for (page, name) in [(desk, "desktop"), (phone, "phone")] {
                try await Self.keep(page, "Schedule/Page/Screenshots/countdown-\(name)")
            }
        }
    }

    @Test("Screenshots show a question session, for the audience and the presenter")
    func questions() async throws {
        try await PageWorld.run { world in
            let made = try await HTTPTestClient.request(
                at: world.endpoint, "POST", "/questions/sessions",
                json: ["deviceId": "grace", "title": "Tea, and how to make it", "moderated": true]
            ).json()
            let (session, key) = (try #require(made["id"].string), try #require(made["presenterKey"].string))
            func present(_ path: String, _ json: TestJSON = [:]) async throws {
                let done = try await HTTPTestClient.request(
                    at: world.endpoint, "POST", "/questions/\(path)", headers: ["Authorization": "Bearer \(key)"],
                    json: json)
                try #require(done.status == 200, "\(done.text)")
            }
            var ids: [String] = []
            var people: [WebSocketTestClient] = []
            for (device, question) in [
                ("bob", "How long does green tea draw?"), ("cleo", "Why not ale?"),
                ("dora", "Milk first, or tea first?"),
                ("emil", "Is there a break before the second half?"),
            ] {
                let socket = try await WebSocketTestClient.connect(
                    to: world.endpoint, "/questions/\(session)/socket?deviceId=\(device)")
                let id = try await socket.nextMessage().json()["id"]
                try await socket.send(json: ["type": "newQuestion", "id": id, "content": .string(question)])
                ids.append(try #require(try await socket.nextMessage().json()["id"].string))
                people.append(socket)
            }
            for id in ids.dropLast() { try await present("\(id)/approve") }
            for (index, voters) in [(0, 2), (1, 1), (2, 4)] {
                for person in people.prefix(voters) {
                    try await person.send(json: ["type": "vote", "questionId": .string(ids[index])])
                }
            }
            try await present("\(ids[0])/answer", ["answer": "Two minutes, at eighty degrees."])
            let phone = try await world.open(
                "questions/\(session)", .init(width: 390, height: 780, isPhone: true, isDark: true, device: "ada"))
            let desk = try await world.open(
                "questions/\(session)/presenter?key=\(key)", .init(width: 1120, height: 860, device: "grace"))
            for page in [phone, desk] {
                try await page.wait(
                    until: "[...document.querySelectorAll('.vote b')].some(votes => votes.textContent === '4')")
            }
            try await Self.keep(phone, "Questions/Page/Screenshots/audience-phone")
            try await Self.keep(desk, "Questions/Page/Screenshots/presenter-desktop")
        }
    }

    private static func keep(_ page: BrowserPage, _ name: String) async throws {
        let image = try await page.screenshot(as: "webp")
        #expect(image.count > 2_000 && image.count < 40_000)
        try Data(image).write(
            to: URL(fileURLWithPath: screenshotDirectory ?? ".").appendingPathComponent("\(name).webp"))
    }
}
