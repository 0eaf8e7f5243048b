import Foundation
import TestSupport
import Testing

/// Partners who don't come, who lose their connection, or who come late. In real time, in real browsers.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageRematchTests {
    /// JavaScript: whether an element has exactly this text.
    private static func says(_ selector: String, _ text: String) -> String {
        "document.querySelector('\(selector)').textContent === '\(text)'"
    }

    private static let letDown = "Your partner isn’t coming. Somebody else may still join you."

    private func enter(_ page: BrowserPage) async throws {
        try await page.wait(until: "!document.querySelector('#next-enter').hidden")
        try await page.click("#next-enter")
        try await page.wait(until: "document.querySelector('#link').dataset.state === 'open'")
    }

    @Test("Two users alone in their rooms are matched again; one with a closed laptop waits for the late partner")
    func rematched() async throws {
        let flags: KeyValuePairs = ["--reminder-lead": 8.0, "--no-show-after": 3, "--presence-grace": 1]
        try await PageWorld.run(paced: flags) { world in
            let start = PageWorld.second(in: 30 * world.pace)
            let (ada, bob, cem, eve, slot) = try await world.before(start - 8 * world.pace) {
                for (device, title) in [("ada", "History"), ("bob", "Maths"), ("cem", "Latin"), ("dan", "Art")] {
                    try await world.register(device, title, at: start)
                }
                let ada = try await world.visit(.init(width: 320, height: 640, isPhone: true, device: "ada"))
                let bob = try await world.visit(.init(device: "bob"), mayComplain: true)
                let cem = try await world.visit(.init(isDark: true, device: "cem"))
                // Eve's page shows the slot as open, and can't load that it has closed.
                let eve = try await world.visit(.init(device: "eve"), mayComplain: true)
                try await world.register("curl", "Nothing", at: start)
                try await eve.wait(until: "document.querySelector('[data-state=somebody]')")
                let key = try await eve.evaluate("document.querySelector('[data-state=somebody]').dataset.key").string
                try await eve.hold("*/schedule?*")
                try await world.cancel("curl", at: start)
                return (ada, bob, cem, eve, BrowserPage.row(try #require(key)))
            }
            try await world.before(start) {
                for page in [ada, bob] { try await enter(page) }
                try await ada.wait(until: Self.says("#presence", "Is here"))
                try await bob.emulate(offline: true)
                try await ada.wait(until: Self.says("#presence", "Has left"))
                try await enter(cem)
                try await cem.wait(until: Self.says("#presence", "Hasn’t come yet"))
            }
            let words = "Your partner didn’t come. Your new partner will start"
            try await ada.wait(until: Self.says("#news", "\(words) Latin."))
            try await cem.wait(until: Self.says("#news", "\(words) History."))
            for page in [ada, cem] { try await page.wait(until: Self.says("#presence", "Is here")) }
            #expect(try await ada.text(of: "#partner-title") == "Latin")
            #expect(try await ada.evaluate("document.querySelector('#news').getAttribute('role')") == "status")
            for page in [ada, cem] { #expect(try await page.faults() == []) }
            try await cem.tab(to: "element.dataset.kind === 'heart'")
            try await cem.press(.enter)
            try await ada.wait(until: Self.says("#heard", "A heart for you!"))

            // The laptop is online again.
            try await bob.emulate(offline: false)
            try await bob.wait(until: Self.says("#news", Self.letDown))
            try await bob.wait(until: Self.says("#link", "You are waiting. Somebody may still join you."))
            // Just after a full hour the slot of that hour is open to late users, too, but without a waiting user. The
            // test therefore names the slot.
            try await eve.wait(until: "document.querySelector('\(slot)').dataset.state === 'late'")
            try await eve.tab(to: "element.closest('\(slot)')")
            try await eve.press(.enter)
            try await eve.type("Music")
            try await eve.release()
            // The server stores a moment after Bob's entry that he waits. Until then it refuses Eve's request, and the
            // test repeats it.
            let deadline = ContinuousClock.now + Deadline.standard
            while try await eve.evaluate("document.querySelector('#promise').open") == true {
                try #require(ContinuousClock.now < deadline)
                try await eve.evaluate("document.querySelector('#title-error').textContent = ''")
                try await eve.press(.enter)
                try await eve.wait(
                    until: """
                        !document.querySelector('#promise').open
                            || document.querySelector('#title-error').innerText.startsWith('Nobody waits at')
                        """)
            }
            try await bob.wait(until: Self.says("#news", "Somebody has joined you: they will start Music."))
            try await eve.wait(until: "document.querySelector('#link').dataset.state === 'open'")
            #expect(try await eve.text(of: "#partner-title") == "Maths")
            for page in [bob, eve] { try await page.wait(until: Self.says("#presence", "Is here")) }
        }
    }

    @Test("A user whose partner was matched again meanwhile gets the new room on return")
    func absent() async throws {
        try await PageWorld.run(paced: ["--reminder-lead": 6, "--no-show-after": 2, "--presence-grace": 0]) { world in
            let start = PageWorld.second(in: 20 * world.pace)
            let people = try await world.before(start - 6 * world.pace) {
                for (device, title) in [("ada", "History"), ("bob", "Maths"), ("cem", "Latin"), ("dan", "Art")] {
                    try await world.register(device, title, at: start)
                }
                return [
                    try await world.visit(.init(device: "ada")), try await world.visit(.init(device: "cem")),
                    try await world.visit(.init(device: "bob")),
                ]
            }
            try await world.before(start) { for page in people[0...1] { try await enter(page) } }
            let bob = people[2]
            try await bob.wait(until: "document.querySelector('#note').innerText.startsWith('You weren’t in the room')")
            try await bob.click("#next-enter")
            try await bob.wait(until: Self.says("#link", "You are waiting. Somebody may still join you."))
            #expect(try await bob.text(of: "#partner-title") == "Nobody yet")
        }
    }

    @Test("A user leaves from the room after a confirmation; the partner is notified and waits")
    func leaving() async throws {
        try await PageWorld.run(["--reminder-lead", "60s"]) { world in
            let start = PageWorld.second(in: 60 + 6 * world.pace)
            for (device, title) in [("ada", "History"), ("bob", "Maths")] {
                try await world.register(device, title, at: start)
            }
            let ada = try await world.visit(.init(device: "ada"))
            let bob = try await world.visit(.init(device: "bob"))
            for page in [ada, bob] { try await enter(page) }
            try await ada.tab(to: "element.id === 'give-up'")
            try await ada.press(.enter)
            #expect(try await ada.text(of: "#give-up") == "Really cancel? Your partner is notified")
            try await ada.press(.enter)
            try await ada.wait(until: "document.body.dataset.view === 'day'")
            try await bob.wait(until: Self.says("#news", Self.letDown))
            try await bob.wait(until: Self.says("#link", "You are waiting. Somebody may still join you."))
            #expect(try await bob.evaluate("document.querySelector('#give-up').hidden") == true)
        }
    }

    @Test("A user without a partner asks from the room for another, and is led to them when there is one")
    func seeking() async throws {
        // No user counts as absent in this test, however long it takes.
        try await PageWorld.run(["--no-show-after", "240s"], paced: ["--reminder-lead": 6]) { world in
            let start = PageWorld.second(in: 16 * world.pace)
            let (ada, cem, bob) = try await world.before(start - 6 * world.pace) {
                try await world.register("ada", "History", at: start)
                let bob = try await world.register("bob", "Maths", at: start)
                try await world.register("cem", "Latin", at: start)
                let ada = try await world.visit(.init(device: "ada"))
                let settings = BrowserPage.Settings(width: 320, height: 640, isPhone: true, device: "cem")
                return (ada, try await world.visit(settings, mayComplain: true), bob)
            }
            try await world.before(start) {
                try await enter(ada)
                try await cem.wait(until: "!document.querySelector('#next-enter').hidden")
                try await cem.click("#next-enter")
                try await cem.wait(until: "document.querySelector('#link').dataset.state === 'none'")
                #expect(try await cem.evaluate("document.querySelector('#seek').hidden") == true)
            }
            try await cem.wait(until: "!document.querySelector('#seek').hidden")
            #expect(try await ada.evaluate("document.querySelector('#seek').hidden") == true)
            try await cem.tab(to: "element.id === 'seek'")
            try await cem.press(.enter)
            try await cem.wait(until: Self.says("#news", "Nobody is waiting now."))
            #expect(try await cem.faults() == [])

            try await world.leave("bob", bob)
            try await ada.wait(until: Self.says("#news", Self.letDown))
            try await ada.wait(until: Self.says("#link", "You are waiting. Somebody may still join you."))
            #expect(try await ada.evaluate("document.querySelector('#seek').hidden") == true)
            #expect(try await cem.text(of: "#news") == "Nobody is waiting now.")
            try await cem.press(.enter)
            try await cem.wait(until: Self.says("#news", "Somebody has joined you: they will start History."))
            try await ada.wait(until: Self.says("#news", "Somebody has joined you: they will start Latin."))
            for page in [ada, cem] { try await page.wait(until: Self.says("#presence", "Is here")) }
            // The button is hidden, and the focus moves to the title.
            try await cem.wait(until: "document.querySelector('#seek').hidden")
            #expect(try await cem.evaluate("document.activeElement.id") == "room-title")
            let refused = cem.complaints.filter { !PageWorld.isKnock($0) }
            #expect(refused.count == 1 && refused[0].contains(" 409") && refused[0].hasSuffix("/task"))
        }
    }
}
