import Foundation
import TestSupport

/// A page in a browser of its own. Tests use it like a person does: by mouse and keyboard, in real time.
struct BrowserPage: Sendable {
    struct Settings: Sendable {
        var width = 1280
        var height = 900
        var isPhone = false
        var isDark = false
        /// Off only in tests of motion, because the processor draws animations sixty times a second.
        var reducesMotion = true
        /// In this zone the day doesn't end during the tests, whenever they run.
        var timeZone = PageWorld.noonZone
        /// The secret that the page finds in its storage. If `nil`, the page makes one.
        var device: String?
        /// Needs the whole browser instead of the headless shell.
        var showsNotifications = false
    }

    private let devTools: DevTools
    private let session: String
    private let context: String
    let events: EventRecorder<DevTools.Event>

    /// Opens an empty page, in a browser of its own or as another tab of `other`.
    static func open(_ settings: Settings = Settings(), beside other: BrowserPage? = nil) async throws -> BrowserPage {
        let chromium = settings.showsNotifications ? Chromium.whole : .shared
        let devTools = if let other { other.devTools } else { try await chromium.devTools() }
        let context: TestJSON =
            if let other { .string(other.context) } else {
                try await devTools.call("Target.createBrowserContext")["browserContextId"]
            }
        let target = try await devTools.call(
            "Target.createTarget", ["url": "about:blank", "browserContextId": context])["targetId"]
        let attached = try await devTools.call("Target.attachToTarget", ["targetId": target, "flatten": true])
        let session = attached["sessionId"].string ?? ""
        let page = BrowserPage(
            devTools: devTools, session: session, context: context.string ?? "",
            events: await devTools.record(session))
        page.addEvidence()
        for domain in ["Page", "Runtime", "Log", "Network"] { try await page.call("\(domain).enable") }
        try await page.apply(settings)
        return page
    }

    private func apply(_ settings: Settings) async throws {
        try await call(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(Double(settings.width)), "height": .number(Double(settings.height)),
                "deviceScaleFactor": 1, "mobile": .bool(settings.isPhone),
            ])
        let features: TestJSON = [
            ["name": "prefers-color-scheme", "value": settings.isDark ? "dark" : "light"],
            ["name": "prefers-reduced-motion", "value": settings.reducesMotion ? "reduce" : "no-preference"],
        ]
        try await call("Emulation.setEmulatedMedia", ["features": features])
        try await call("Emulation.setTimezoneOverride", ["timezoneId": .string(settings.timeZone)])
        try await call("Emulation.setFocusEmulationEnabled", ["enabled": true])
        guard let device = settings.device else { return }
        try await runFirst("try { localStorage.device ??= '\(device)' } catch {}")
    }

    /// Makes every document run this script before its own scripts.
    func runFirst(_ script: String) async throws {
        try await call("Page.addScriptToEvaluateOnNewDocument", ["source": .string(script)])
    }

    @discardableResult
    func call(
        _ method: String, _ parameters: TestJSON = [:], within allowed: Duration = Deadline.standard
    ) async throws -> TestJSON {
        try await devTools.call(method, parameters, session: session, within: allowed)
    }

    /// Closes the tab.
    func closeTab() async throws {
        try await call("Page.close")
    }

    /// Closes the browser with all its tabs.
    func close() async throws {
        try await devTools.call("Target.disposeBrowserContext", ["browserContextId": .string(context)])
        await devTools.removeRecorder(session)
    }

    /// Grants the permission for notifications, like the user would.
    func allowNotifications(of origin: String) async throws {
        try await devTools.call(
            "Browser.grantPermissions",
            ["permissions": ["notifications"], "origin": .string(origin), "browserContextId": .string(context)])
    }

    // MARK: Content

    func navigate(to address: String) async throws {
        try await call("Page.navigate", ["url": .string(address)])
    }

    /// Returns the value of a JavaScript expression. If it is a promise, awaits it.
    @discardableResult
    func evaluate(_ expression: String, within allowed: Duration = Deadline.standard) async throws -> TestJSON {
        let answer = try await call(
            "Runtime.evaluate",
            ["expression": .string(expression), "awaitPromise": true, "returnByValue": true, "userGesture": true],
            within: allowed)
        if let text = answer["exceptionDetails"]["exception"]["description"].string {
            throw ClientFailure.violation("\(expression): \(text)")
        }
        return answer["result"]["value"]
    }

    /// Waits until a JavaScript expression is true, across reloads, too.
    func wait(until condition: String, within allowed: Duration = Deadline.standard) async throws {
        let deadline = ContinuousClock.now + allowed
        let look = """
            new Promise(done => {
                const end = performance.now() + 1000
                const look = () => {
                    let is = false
                    try { is = Boolean(\(condition)) } catch {}
                    if (is || performance.now() > end) done(is)
                    else setTimeout(look, 40)
                }
                look()
            })
            """
        while true {
            // If the document is replaced, the promise is lost and the next round asks again.
            if let found = try? await evaluate(look), found == true { return }
            guard ContinuousClock.now < deadline else {
                throw ClientFailure.timedOut(waitingFor: condition, after: allowed, received: "false").withEvidence
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    func text(of selector: String) async throws -> String {
        try await evaluate("document.querySelector('\(selector)').innerText").string ?? ""
    }

    /// The errors that the browser reported: in the console, exceptions, violations of the security policy, failed
    /// loads.
    var consoleErrors: [String] { events.all.compactMap(Self.consoleError) }

    /// Returns the error that an event reports; `nil` for most events.
    static func consoleError(in event: DevTools.Event) -> String? {
        let parameters = event.parameters
        switch event.method {
        case "Runtime.exceptionThrown": return parameters["exceptionDetails"]["exception"]["description"].string
        case "Runtime.consoleAPICalled":
            guard ["error", "warning", "assert"].contains(parameters["type"].string) else { return nil }
            return "\(parameters["args"])"
        case "Log.entryAdded":
            let entry = parameters["entry"]
            guard entry["level"] == "error" || entry["source"] == "security" else { return nil }
            return "\(entry["text"].string ?? "") \(entry["url"].string ?? "")"
        default: return nil
        }
    }

    /// Returns the screen as a PNG or WebP file.
    func screenshot(as format: String = "png", within allowed: Duration = Deadline.standard) async throws -> [UInt8] {
        let answer = try await call(
            "Page.captureScreenshot", ["format": .string(format), "quality": 70], within: allowed)
        return Data(base64Encoded: answer["data"].string ?? "").map { Array($0) } ?? []
    }
}
