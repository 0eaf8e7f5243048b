import Foundation
import TestSupport
import Testing

/// The page without a network, and without a server.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageOfflineTests {
    @Test("Without a network, the page says so and shows the last schedule")
    func offline() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(device: "ada"), mayComplain: true)
            try await page.emulate(offline: true)
            try await page.wait(
                until:
                    "document.querySelector('#banner').innerText.startsWith('You are offline. You see the day as of')")
            #expect(try await page.evaluate("document.querySelector('#slots').classList.contains('stale')") == true)
            try await page.click("\(BrowserPage.row("16:00")) button")
            try await page.type("History")
            try await page.press(.enter)
            try await page.wait(
                until: "document.querySelector('#title-error').innerText.includes('may have received your request')")
            try await page.press(.escape)
            try await world.register("ada", "Maths", at: PageWorld.hour(18))
            try await page.emulate(offline: false)
            try await page.waitForState("own", at: "18:00")
            try await page.wait(
                until: "document.querySelector('#banner').innerText === '' && !document.querySelector('.stale')")
        }
    }

    @Test(
        "A day that can't be loaded shows its age and the reason",
        arguments: [
            (503, #"{"code":"database_unavailable"}"#, "can’t read the day"), (200, "<html>", "can’t be loaded"),
        ])
    func refusedDay(_ status: Int, _ content: String, _ words: String) async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(device: "ada"), mayComplain: true)
            try await page.hold("*/schedule?*")
            try await world.register("ada", "History", at: PageWorld.hour(18))
            try await page.answer("/schedule", status, with: content)
            try await page.wait(until: "document.querySelector('#trouble').innerText.includes('\(words)')")
            try await page.wait(
                until: "document.querySelector('#banner').innerText.startsWith('You see the day as of ')")
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

    @Test("Without a network, an unknown day shows its hours without actions")
    func unknownDay() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(device: "ada"), mayComplain: true)
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

    @Test("With the server down a reload still shows the page and the day")
    func reload() async throws {
        try await PageWorld.run { world in
            try await world.register("ada", "History", at: PageWorld.hour(18))
            let page = try await world.visit(.init(device: "ada"), mayComplain: true)
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

    @Test("The page is cached completely, and replaced completely by another build")
    func builds() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(.init(device: "ada"), mayComplain: true)
            try await page.wait(until: "navigator.serviceWorker.controller")
            let first = try await page.keptBuild()
            #expect(first.lead == "60.0" && first.paths.count > 20)
            try await world.stopDaemon()
            // The document contains the settings, so other settings make another build.
            try await world.startDaemon(["--reminder-lead", "90s"])
            try await page.call("Page.reload")
            try await page.wait(
                until: """
                    (caches.keys().then(names => window.names = names),
                        window.names?.length === 1 && window.names[0] !== '\(first.name)')
                    """)
            let second = try await page.keptBuild()
            #expect(second.lead == "90.0" && second.paths == first.paths)
            try await page.call("Page.reload")
            try await page.wait(until: "document.documentElement.dataset.lead === '90.0'")
            try await page.waitUntilLive()
        }
    }
}

extension BrowserPage {
    /// Returns the service worker's cache: its name, the lead in the cached document, and all paths.
    fileprivate func keptBuild() async throws -> (name: String, lead: String, paths: Set<String>) {
        let build = try await evaluate(
            """
            (async () => {
                const [name] = await caches.keys()
                const cache = await caches.open(name)
                const [, lead] = (await (await cache.match('/')).text()).match(/data-lead="(.*?)"/)
                return { name, lead, paths: (await cache.keys()).map(({ url }) => new URL(url).pathname) }
            })()
            """)
        let paths = (build["paths"].array ?? []).compactMap(\.string)
        return (build["name"].string ?? "", build["lead"].string ?? "", Set(paths))
    }
}
