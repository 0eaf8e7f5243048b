import Foundation
import TestSupport
import Testing

/// The page without a network, and without a server.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageOfflineTests {
    @Test("offline, the page says so and shows the last schedule; back online, it is fresh by itself")
    func offline() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(timeZone: PageWorld.noonZone, device: "ada"), mayComplain: true)
            try await page.emulate(offline: true)
            try await page.wait(
                until:
                    "document.querySelector('#banner').innerText.startsWith('You are offline. This is the day as of')")
            #expect(try await page.evaluate("document.querySelector('#slots').classList.contains('stale')") == true)
            try await page.click("\(BrowserPage.row("16:00")) button")
            try await page.type("History")
            try await page.press(.enter)
            try await page.wait(
                until: "document.querySelector('#title-error').innerText.includes('may or may not have heard you')")
            try await page.press(.escape)
            try await world.register("ada", "Maths", at: PageWorld.hour(18))
            try await page.emulate(offline: false)
            try await page.waitForState("own", at: "18:00")
            try await page.wait(
                until: "document.querySelector('#banner').innerText === '' && !document.querySelector('.stale')")
        }
    }

    @Test(
        "a day that can't be loaded is marked as of when it is, and says why, also while the stream is alive",
        arguments: [
            (503, #"{"code":"database_unavailable"}"#, "can’t read the day"), (200, "<html>", "can’t be loaded"),
        ])
    func refusedDay(_ status: Int, _ content: String, _ words: String) async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(timeZone: PageWorld.noonZone, device: "ada"), mayComplain: true)
            try await page.hold("*/schedule?*")
            try await world.register("ada", "History", at: PageWorld.hour(18))
            try await page.answer("/schedule", status, with: content)
            try await page.wait(until: "document.querySelector('#trouble').innerText.includes('\(words)')")
            try await page.wait(
                until: "document.querySelector('#banner').innerText.startsWith('This is the day as of ')")
            #expect(
                try await page.evaluate("document.querySelectorAll('#slots.stale [data-state=free]').length > 1")
                    == true)
            #expect(try await page.evaluate("document.body.dataset.link") == "live")
            try await page.release()
            try await page.waitForState("own", at: "18:00")
            try await page.wait(
                until:
                    "document.querySelector('#banner').innerText + document.querySelector('#trouble').innerText === ''")
        }
    }

    @Test("offline, a day that was never seen shows its hours and offers nothing")
    func unknownDay() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(timeZone: PageWorld.noonZone, device: "ada"), mayComplain: true)
            try await page.emulate(offline: true)
            try await page.wait(until: "document.querySelector('#banner').innerText.startsWith('You are offline.')")
            try await page.click("#days li:nth-child(3) button")
            try await page.wait(until: "document.querySelector('#days li:nth-child(3) [aria-current]')")
            #expect(try await page.evaluate("document.querySelectorAll('.slot').length") == 16)
            #expect(try await page.evaluate("document.querySelectorAll('.slot button, #slots.stale').length") == 0)
            try await page.click("#days li:first-child button")
            try await page.waitForState("free", at: "16:00")
        }
    }

    @Test("with the server gone, a reload still shows the page and the day")
    func reload() async throws {
        try await PageWorld.run { world in
            try await world.register("ada", "History", at: PageWorld.hour(18))
            let page = try await world.visit(.init(timeZone: PageWorld.noonZone, device: "ada"), mayComplain: true)
            try await page.wait(until: "navigator.serviceWorker.controller")
            try await world.stopDaemon()
            try await page.wait(until: "document.body.dataset.link === 'lost'")
            try await page.call("Page.reload", ["ignoreCache": false])
            try await page.wait(until: "document.querySelector('#banner').innerText.includes('as of')")
            try await page.waitForState("own", at: "18:00")
            try await world.startDaemon()
            try await page.waitUntilLive()
        }
    }
}
