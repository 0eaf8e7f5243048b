import Foundation
import TestSupport
import Testing

/// Tasks that are moved, matched tasks that are cancelled, and the history.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageChangeTests {
    @Test("A matched task is moved within the day and then cancelled")
    func moved() async throws {
        try await PageWorld.run { world in
            for (device, title) in [("ada", "History"), ("bob", "Maths")] {
                try await world.register(device, title, at: PageWorld.hour(16))
            }
            try await world.register("cleo", "Latin", at: PageWorld.hour(18))
            let ada = try await world.visit(
                .init(width: 320, isPhone: true, isDark: true, device: "ada"))
            // Bob's page may ask about a partner that has just left, which the server refuses.
            let bob = try await world.visit(.init(device: "bob"), mayComplain: true)
            try await ada.waitForState("partner", at: "16:00")
            try await ada.click("\(BrowserPage.row("16:00")) button")
            #expect(try await ada.faults() == [])
            try await ada.evaluate(
                """
                (select => select.value = [...select.options].find(option => option.text === '18:00').value)(
                    document.querySelector('#move-to'))
                """)
            try await ada.type("Art")
            try await ada.press(.enter)
            try await ada.waitForState("partner", at: "18:00")
            try await bob.waitForState("own", at: "16:00")
            let text = "Moved: Art is at 18:00 now. Your partner will start Latin."
            try await ada.wait(until: "document.querySelector('#status').textContent === '\(text)'")

            try await ada.click("\(BrowserPage.row("18:00")) button")
            try await ada.click("#cant")
            #expect(try await ada.text(of: "#cant") == "Really cancel the task")
            // Closing the dialog withdraws the question.
            try await ada.press(.escape)
            try await ada.click("\(BrowserPage.row("18:00")) button")
            #expect(try await ada.text(of: "#cant") == "I can’t make it")
            for _ in 0..<2 { try await ada.click("#cant") }
            try await ada.waitForState("somebody", at: "18:00")
        }
    }

    @Test("A reported start is in the history")
    func past() async throws {
        try await PageWorld.run(["--reminder-lead", "600s"]) { world in
            let page = try await world.visit(.init(width: 320, isPhone: true, device: "ada"))
            let start = PageWorld.second(in: 1200)
            try await world.register("ada", "History", at: start)
            try await world.advance(to: start - 590)
            try await page.wait(until: "!document.querySelector('#next-enter').hidden")
            try await page.click("#next-enter")
            try await page.wait(until: "document.body.dataset.view === 'room'")
            try await world.advance(to: start)
            try await page.wait(until: "!document.querySelector('#started').hidden")
            try await page.tab(to: "element.id === 'started'")
            try await page.press(.enter)
            try await page.wait(until: "document.querySelector('#news').innerText === 'You have started. Well done.'")
            #expect(try await page.evaluate("document.querySelector('#started').hidden") == true)
            try await page.click("#leave")
            try await page.click("#open-past")
            try await page.wait(until: "document.querySelector('#past-sum').innerText === '1 kept, 0 missed.'")
            #expect(try await page.text(of: "#past-list").hasSuffix("kept"))
            #expect(try await page.faults() == [])
        }
    }
}
