import Foundation
import TestSupport
import Testing

/// The operators' page in a real browser.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct OperationsPageTests {
    /// Starts a daemon with an operators' listener, and opens the page there.
    private func open(
        _ world: PageWorld, _ settings: BrowserPage.Settings = .init()
    ) async throws -> (daemon: DaemonProcess, endpoint: ClientEndpoint, page: BrowserPage) {
        let (daemon, endpoint) = try await DaemonProcess.listening([
            "--listen", "127.0.0.1:0", "--operations-listen", "127.0.0.1:0", "--open-rooms", "--database-url",
            world.conninfo, "--database-wait", "30s", "--ntfy-server", "http://127.0.0.1:9",
        ])
        let operations = try await daemon.nextListening()
        let page = try await BrowserPage.open(settings)
        try await page.navigate(to: "http://\(operations.authority)/operations")
        try await page.wait(until: "document.body.dataset.link === 'live'")
        return (daemon, endpoint, page)
    }

    /// JavaScript: the section of a plot.
    private static func plot(_ title: String) -> String {
        "[...document.querySelectorAll('.plot')].find(plot => plot.querySelector('h2').textContent === '\(title)')"
    }

    @Test("Values are plotted live and chosen by keyboard")
    func page() async throws {
        try await PageWorld.run { world in
            let (daemon, endpoint, page) = try await open(world, .init(width: 390, height: 780, isDark: true))
            let people = Self.plot("People")
            let room = UUID()
            let peers = [
                try await WebSocketTestClient.connect(to: endpoint, "/socket?id=\(room)"),
                try await WebSocketTestClient.connect(to: endpoint, "/socket?id=\(room)"),
            ]
            try await page.wait(until: "\(people).querySelector('.now').textContent === '2'")
            try await page.wait(until: "\(people).querySelector('path').getAttribute('d').includes('L')")
            #expect(
                try await page.evaluate("\(people).querySelector('svg').getAttribute('aria-label')")
                    == "People, the last minute: connections 2")
            let titles = try await page.evaluate(
                "[...document.querySelectorAll('.plot h2')].map(title => title.textContent)")
            for title in ["Rooms", "Messages a second", "Reminders due", "ntfy, deliveries a minute"] {
                #expect(titles.array?.contains(.string(title)) == true, "\(titles)")
            }
            #expect(titles.array?.contains("Apple, deliveries a minute") == false)
            // Nothing is wider than the phone's screen.
            #expect(try await page.evaluate("document.documentElement.scrollWidth <= innerWidth") == true)

            try await page.evaluate("document.querySelector('input[value=minute]').focus()")
            try await page.press(.right)
            try await page.wait(until: "document.body.dataset.shown === 'own hour'")
            #expect(try await page.evaluate("location.hash") == "#own/hour")
            try await page.click("#scope label:last-child")
            try await page.wait(until: "document.body.dataset.shown === 'all hour'")
            #expect(page.consoleErrors == [])

            for peer in peers { await peer.close() }
            #expect(try await daemon.terminate() == .exited(0))
            try await page.wait(until: "document.body.dataset.link === 'away'")
            try await page.close()
        }
    }

    @Test("Numbers and paths are formatted correctly")
    func decisions() async throws {
        try await PageWorld.run { world in
            let (daemon, _, page) = try await open(world)
            let source = try Checkout.text("Sources/Programs/LetsSwitch/History/Page/Assets/plots.js")
            let script = source.replacing("export ", with: "")
            for (expression, expected) in [
                ("[0, 0.2, 1, 1.1, 3, 7, 20, 21].map(ceiling)", "[1,1,1,2,5,10,20,50]"),
                (
                    "[null, 0, 0.123, 4.56, 99.9, 123.4, 9999, 12345, 2345678].map(wordOf)",
                    #"["–","0","0.12","4.6","100","123","9999","12.3 k","2.35 M"]"#
                ),
                ("[latest([1, 2, null]), latest([null]), latest(undefined)]", "[2,null,null]"),
                ("pathOf([0, null, 2, 4], 4, 30, 8)", #""M0 8L0 8M20 4L20 4L30 0""#),
                (
                    "plotsOf(['webhook']).map(plot => plot.title).filter(title => title.includes('deliveries'))",
                    #"["Webhook, deliveries a minute"]"#
                ),
            ] {
                let value = try await page.evaluate("(() => { \(script)\nreturn JSON.stringify(\(expression)) })()")
                #expect(value.string == expected, "\(expression)")
            }
            try await page.close()
            #expect(try await daemon.terminate() == .exited(0))
        }
    }
}
