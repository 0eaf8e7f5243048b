import TestSupport
import Testing

/// Errors in the browser are noticed. Without this test their absence would mean nothing.
@Suite(.enabled(if: Chromium.isInstalled, "Chromium is not installed"))
struct PageConsoleTests {
    @Test("A browser error fails the test")
    func consoleErrors() async throws {
        let errors = [
            "console.error('wrong')", "setTimeout(() => { throw new Error('wrong') })",
            "document.body.setAttribute('style', 'color: red')", "new Image().src = 'https://other.example/x.png'",
            "fetch('https://other.example/').catch(() => {})", "try { document.body.innerHTML = '<b>' } catch {}",
            "fetch('/nothing')",
        ]
        try await PageWorld.run { world in
            let page = try await world.visit(mayComplain: true)
            #expect(page.consoleErrors.isEmpty)
            for error in errors {
                try await page.evaluate("void (() => { \(error) })()")
                try await page.events.next("a complaint of \(error)") { BrowserPage.consoleError(in: $0) != nil }
            }
        }
    }
}
