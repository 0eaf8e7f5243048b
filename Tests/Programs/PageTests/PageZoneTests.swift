import TestSupport
import Testing

/// The time zone of a browser that doesn't know its own.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageZoneTests {
    /// Makes the browser report this zone, as a JavaScript value, and this offset.
    private static func script(zone: String, minutesAheadOfUTC offset: Int) -> String {
        """
        {
            const own = Intl.DateTimeFormat.prototype.resolvedOptions
            Intl.DateTimeFormat.prototype.resolvedOptions = function () { return { ...own.call(this), timeZone: \(zone) } }
            Date.prototype.getTimezoneOffset = () => \(-offset)
        }
        """
    }

    @Test(
        "A browser without a zone uses its clock's offset until the user chooses one",
        arguments: [("'Etc/Unknown'", 60, "UTC+1"), ("undefined", 60, "UTC+1"), ("'+05:30'", 330, "UTC+5:30")])
    func unknown(zone: String, offset: Int, name: String) async throws {
        try await PageWorld.run { world in
            // Errors of the page's scripts fail the test.
            let page = try await world.visit(after: Self.script(zone: zone, minutesAheadOfUTC: offset))
            #expect(try await page.text(of: "#zone-choice label").hasPrefix("Your browser doesn’t say"))
            let chosen = "document.querySelector('#zones').selectedOptions[0].text"
            #expect(try await page.evaluate(chosen).string == "\(name) (your browser’s clock)")
            #expect(try await page.text(of: "#zone") != "UTC")

            try await page.evaluate("document.querySelector('#zones').focus()")
            try await page.evaluate("document.querySelector('#zones').value = 'Asia/Tokyo'")
            try await page.press(.tab)
            try await page.press(.enter)
            try await page.wait(until: "document.querySelector('#zone').innerText === 'Asia/Tokyo'")
            try await page.waitUntilLive()
            #expect(try await page.evaluate(chosen) == "Asia/Tokyo")

            // The choice can be changed.
            try await page.evaluate("document.querySelector('#zones').value = ''")
            try await page.click("#use-zone")
            try await page.wait(until: "document.querySelector('#zone').innerText !== 'Asia/Tokyo'")
            try await page.waitUntilLive()
        }
    }

    @Test("Tasks are shown and registered in the chosen zone")
    func registered() async throws {
        try await PageWorld.run { world in
            try await world.register("ada", "Art", at: PageWorld.hour(17))
            // The zone of the tests' noon is never this one.
            let script = Self.script(zone: "'Etc/Unknown'", minutesAheadOfUTC: 13 * 60)
            let page = try await world.visit(
                .init(device: "ada"), after: script + "localStorage.zone = '\(PageWorld.noonZone)'")
            try await page.waitForState("own", at: "17:00")
            try await page.click("\(BrowserPage.row("16:00")) button")
            try await page.type("History")
            try await page.press(.enter)
            try await page.waitForState("own", at: "16:00")
            try await world.cancel("ada", at: PageWorld.hour(16))
            try await page.waitForState("free", at: "16:00")
        }
    }

    @Test("A browser that knows its zone offers no choice")
    func known() async throws {
        try await PageWorld.run { world in
            let page = try await world.visit(
                .init(timeZone: "Europe/Prague"), after: "localStorage.zone = 'Asia/Tokyo'")
            #expect(try await page.text(of: "#zone") == "Europe/Prague")
            #expect(try await page.evaluate("document.querySelector('#zone-choice').hidden") == true)
        }
    }
}
