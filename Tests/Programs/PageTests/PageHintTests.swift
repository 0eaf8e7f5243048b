import Foundation
import TestSupport
import Testing

/// The requests that a page makes when other users' tasks change the day.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageHintTests {
    @Test("The page shows others' tasks of its day with few requests")
    func pace() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(device: "ada"))
            let before = page.questions
            let began = ContinuousClock.now
            for number in 0..<10 {
                try await world.register("other \(number)", "T", at: PageWorld.hour(20 + 24 + number))
            }
            for number in 0..<19 {
                try await world.register(
                    "d\(number)", "T", at: PageWorld.hour(20).addingTimeInterval(Double(60 * number)))
            }
            try await page.waitForState("somebody", at: "20:18")
            let questions = page.questions - before
            // The first at once, the last in a while, and one each three seconds between. A slow machine has more time, and more questions.
            #expect(questions <= 2 + Int((ContinuousClock.now - began) / .seconds(1)) / 3)
        }
    }

    @Test("The stream follows the day shown")
    func days() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(device: "ada"))
            let midnight = PageWorld.hour(0)
            #expect(page.spans == [[PageWorld.text(midnight), PageWorld.text(midnight.addingTimeInterval(86_400))]])
            try await page.click("#days li:nth-child(5) button")
            try await page.waitForState("free", at: "08:00")
            try await eventually("a stream of that day") {
                page.spans.last == [4, 5].map { PageWorld.text(midnight.addingTimeInterval(86_400 * $0)) }
            }
            try await world.register("bob", "Maths", at: PageWorld.hour(9 + 96))
            try await page.waitForState("somebody", at: "09:00")
            #expect(try await page.evaluate("document.body.dataset.link") == "live")
            // The user's own task is shown at once, even if the day was requested just before.
            try await page.click("\(BrowserPage.row("10:00")) button")
            try await page.type("History")
            try await page.press(.enter)
            try await page.waitForState("own", at: "10:00")
            try await world.register("bob", "Maths", at: PageWorld.hour(10 + 96))
            try await page.waitForState("partner", at: "10:00")
        }
    }

    @Test("Tabs that show different days share one stream")
    func tabs() async throws {
        try await PageWorld.run { world in
            let first = try await world.visit(.init(device: "ada"))
            let second = try await world.visit(beside: first)
            try await second.click("#days li:nth-child(3) button")
            let midnight = PageWorld.hour(0)
            try await eventually("a stream of both days") {
                first.spans.last == [0, 3].map { PageWorld.text(midnight.addingTimeInterval(86_400 * $0)) }
            }
            try await world.register("bob", "Maths", at: PageWorld.hour(9 + 48))
            try await second.waitForState("somebody", at: "09:00")
            try await world.register("bob", "Maths", at: PageWorld.hour(20))
            try await first.waitForState("somebody", at: "20:00")
            #expect(second.spans.isEmpty)
        }
    }
}

extension BrowserPage {
    private func requests(_ path: String) -> [URLComponents] {
        events.all.filter { $0.method == "Network.requestWillBeSent" }
            .compactMap { $0.parameters["request"]["url"].string.flatMap(URLComponents.init(string:)) }
            .filter { $0.path == path }
    }

    /// The number of requests for a day.
    fileprivate var questions: Int { requests("/schedule").count }

    /// The time span of each event stream that the page has requested.
    fileprivate var spans: [[String]] {
        requests("/reminders").map { request in
            ["from", "to"].compactMap { name in request.queryItems?.first { $0.name == name }?.value }
        }
    }
}
