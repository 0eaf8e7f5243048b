import Foundation
import TestSupport
import Testing

/// A task that is repeated every week.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageSeriesTests {
    private static let row = "\(BrowserPage.row("16:00")) button"
    private static let detail = "document.querySelector('\(BrowserPage.row("16:00")) .detail').innerText"

    private func show(_ day: Int, on page: BrowserPage) async throws {
        try await page.click("#days li:nth-child(\(day)) button")
        try await page.wait(until: "document.querySelector('#days li:nth-child(\(day)) [aria-current]')")
    }

    @Test("A series is created, renamed and ended by keyboard")
    func series() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(
                .init(width: 320, height: 640, isDark: true, device: "ada"))
            try await page.tab(to: "element === document.querySelector(`\(Self.row)`)")
            try await page.press(.enter)
            try await page.type("History")
            try await page.tab(to: "element.id === 'repeats'")
            try await page.press(.space)
            // The weekday of the slot is already chosen.
            #expect(try await page.evaluate("document.querySelectorAll('#weekdays :checked:disabled').length") == 1)
            #expect(try await page.faults() == [])
            for _ in 0..<6 {
                try await page.tab(to: "element.closest('#weekdays') && !element.checked")
                try await page.press(.space)
            }
            try await page.press(.enter)
            try await page.waitForState("own", at: "16:00")
            try await page.wait(
                until:
                    "document.querySelector('#status').textContent.startsWith('Promised: History at 16:00, every week. The first 1')"
            )

            // The user skips a day.
            try await show(2, on: page)
            try await page.waitForState("own", at: "16:00")
            try await page.wait(
                until: """
                    (document.querySelector('#promise').open || document.querySelector(`\(Self.row)`).click(),
                        document.querySelector('#task-form-note').innerText.includes('“Every day at 16:00”')
                            || void document.querySelector('#promise').close())
                    """)
            try await page.click("#take-back")
            try await page.waitForState("free", at: "16:00")

            // Bob becomes the partner on the day after.
            try await world.register("bob", "Maths", at: PageWorld.hour(16 + 48))
            let third = try await page.evaluate(
                "new Date(\((PageWorld.hour(16 + 48).timeIntervalSince1970) * 1000)).toLocaleDateString('sv')")
            try await page.tab(to: "element.id === 'open-series'")
            try await page.press(.enter)
            try await page.wait(until: "document.querySelector('#series').open")
            #expect(try await page.text(of: "#series-list").contains("Every day at 16:00"))
            try await page.tab(to: "element.ariaLabel === 'Rename History'")
            try await page.press(.enter)
            #expect(try await page.evaluate("document.activeElement.value") == "History")
            #expect(try await page.faults() == [])
            try await page.evaluate(
                "(document.activeElement.value = '', document.querySelector('#series [type=date]').value = '\(third.string ?? "")')"
            )
            try await page.type("Art")
            try await page.press(.enter)
            try await page.wait(
                until:
                    "document.querySelector('#series-status').innerText === 'From that day on, the task is called Art.'"
            )
            try await page.press(.escape)
            try await show(3, on: page)
            try await page.wait(until: "\(Self.detail) === 'Art · your partner will start Maths'")
            try await show(1, on: page)
            try await page.wait(until: "\(Self.detail) === 'History'")

            // The series ends after a confirmation.
            try await page.click("#open-series")
            try await page.wait(until: "document.querySelector('#series').open")
            for _ in 0..<2 {
                try await page.tab(to: "element.dataset.part === 'end'")
                try await page.press(.enter)
            }
            try await page.wait(
                until:
                    "document.querySelector('#series-status').innerText === 'Ended. One task remains, because it has a partner.'"
            )
            #expect(try await page.evaluate("document.querySelector('#no-series').hidden") == false)
            try await page.press(.escape)
            try await page.waitForState("free", at: "16:00")
        }
    }

    @Test("The calendar feed has the tasks of a series")
    func calendar() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(device: "ada"))
            try await page.click(Self.row)
            try await page.type("History")
            try await page.click("#repeats")
            try await page.press(.enter)
            try await page.waitForState("own", at: "16:00")
            let feed = try #require(try await world.post("/calendar", ["deviceId": "ada"])["url"].string)
            func events() async throws -> [String: String] {
                let text = try await HTTPTestClient.request(at: world.endpoint, "GET", feed).text
                let found = text.matches(of: /UID:([-0-9A-F]+)(?:(?!END:VEVENT)[\s\S])*?DTSTART[^:]*:(\w+)/)
                return Dictionary(found.map { (String($0.1), String($0.2)) }) { one, _ in one }
            }
            let before = try await events()
            #expect(before.count >= 2)
            try await page.click(Self.row)
            try await page.evaluate(
                """
                (select => select.value = [...select.options].find(option => option.text === '18:00').value)(
                    document.querySelector('#move-to'))
                """)
            try await page.press(.enter)
            try await page.waitForState("own", at: "18:00")
            let after = try await events()
            #expect(Set(after.keys) == Set(before.keys))
            #expect(before.keys.count { before[$0] != after[$0] } == 1)
        }
    }
}
