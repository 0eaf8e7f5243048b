import Foundation
import TestSupport
import Testing

/// The choice to meet a former partner again, or never again.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PagePreferenceTests {
    private static func expectMessage(_ text: String, on page: BrowserPage) async throws {
        try await page.wait(until: "document.querySelector('#past-status').innerText === '\(text)'")
    }

    @Test(
        "After the start, the user can prefer or block the partner"
    )
    func again() async throws {
        try await PageWorld.run(["--reminder-lead", "600s", "--no-show-after", "900s"]) { world in
            let page = try await world.visit(.init(width: 320, height: 640, isDark: true, device: "ada"))
            let start = PageWorld.second(in: 1200)
            try await world.register("ada", "History", at: start)
            try await world.register("bob", "Maths", at: start)
            try await world.advance(to: start - 590)
            try await page.wait(until: "!document.querySelector('#next-enter').hidden")
            try await page.click("#next-enter")
            try await page.wait(until: "document.querySelector('#link').dataset.state === 'open'")
            try await world.advance(to: start)
            try await page.wait(until: "!document.querySelector('#started').hidden")
            try await page.tab(to: "element.id === 'again'")
            #expect(try await page.faults() == [])
            try await page.press(.enter)
            try await page.wait(until: "document.querySelector('#news').innerText.startsWith('If several people wait')")
            #expect(try await page.evaluate("document.querySelector('#again').hidden") == true)
            #expect(try await page.evaluate("document.activeElement.id") == "room-title")
            try await page.click("#leave")

            try await page.click("#open-past")
            // The dialog opens after everything is loaded.
            try await page.wait(until: "document.querySelector('#past').open")
            #expect(try await page.evaluate("document.querySelector('#preferences').hidden") == false)
            #expect(try await page.text(of: "#preferences b") == "Maths")
            #expect(try await page.text(of: "#past-list .do").hasPrefix("With Maths."))
            #expect(try await page.evaluate("document.querySelector('#past-list [data-part=prefer]').hidden") == true)
            #expect(try await page.faults() == [])
            try await page.tab(to: "element.ariaLabel === 'Undo: Maths'")
            try await page.press(.enter)
            try await Self.expectMessage("Undone.", on: page)
            #expect(try await page.evaluate("document.querySelector('#preferences').hidden") == true)
            try await page.tab(to: "element.ariaLabel === 'Prefer the partner who started Maths'")
            try await page.press(.enter)
            try await Self.expectMessage("If several people wait, the partner who started Maths comes first.", on: page)

            // The page asks for confirmation first.
            for _ in 0..<2 {
                try await page.tab(to: "element.dataset.part === 'block'")
                try await page.press(.enter)
            }
            try await Self.expectMessage("You won’t meet the partner who started Maths again.", on: page)
            #expect(try await page.text(of: "#blocks b") == "Maths")
            #expect(try await page.evaluate("document.querySelector('#past-list [data-part=block]').hidden") == true)
            #expect(try await page.evaluate("document.activeElement.id") == "past-title")
            #expect(try await page.faults() == [])
            try await page.tab(to: "element.closest('#blocks')")
            try await page.press(.enter)
            try await Self.expectMessage("Undone.", on: page)
            #expect(try await page.evaluate("document.querySelector('#blocks').hidden") == true)
        }
    }
}
