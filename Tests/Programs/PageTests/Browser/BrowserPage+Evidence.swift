import Foundation
import TestSupport

/// A page's part in the report of a wait that ends in vain: its console, its requests and a screenshot.
extension BrowserPage {
    /// Lines of each list in a report.
    private static let reportLines = 50
    /// The time for each question to the browser: the page may be what hangs.
    private static let timeout = Duration.seconds(10)

    func addEvidence() {
        let events = events
        Evidence.add { Self.report(of: events.all) }
        Evidence.addSlow { await screenshotReport() }
    }

    private static func report(of events: [DevTools.Event]) -> String? {
        var address = "about:blank"
        var console: [String] = []
        var requests = RequestList()
        for event in events {
            if event.method == "Page.frameNavigated", event.parameters["frame"]["parentId"].string == nil {
                address = event.parameters["frame"]["url"].string ?? address
            }
            if let line = consoleLine(of: event) { console.append(line) }
            requests.take(event)
        }
        return """
            The page \(address)
            Its console:\(list(console))
            Its requests:\(list(requests.lines))
            """
    }

    private static func list(_ lines: [String]) -> String {
        lines.isEmpty ? " nothing" : lines.suffix(reportLines).map { "\n  \($0)" }.joined()
    }

    private static func consoleLine(of event: DevTools.Event) -> String? {
        let parameters = event.parameters
        switch event.method {
        case "Runtime.exceptionThrown":
            return parameters["exceptionDetails"]["exception"]["description"].string
                ?? parameters["exceptionDetails"]["text"].string
        case "Runtime.consoleAPICalled":
            let words = (parameters["args"].array ?? []).map {
                $0["value"].string ?? $0["description"].string ?? "\($0["value"])"
            }
            return "\(parameters["type"].string ?? ""): \(words.joined(separator: " "))"
        case "Log.entryAdded":
            let entry = parameters["entry"]
            return "\(entry["level"].string ?? ""): \(entry["text"].string ?? "") \(entry["url"].string ?? "")"
        default: return nil
        }
    }

    private func screenshotReport() async -> String {
        do {
            let path = try Evidence.keep(try await screenshot(within: Self.timeout), extension: "png")
            let text = try await evaluate("location.href + ': ' + document.body?.innerText", within: Self.timeout)
            return "The page's screenshot: \(path)\nThe page shows \(text.string ?? "nothing")"
        } catch {
            return "The page has no screenshot: \(error)"
        }
    }
}

/// The requests of a page, each with how it was answered.
private struct RequestList {
    private var order: [String] = []
    private var requests: [String: String] = [:]
    private var outcomes: [String: String] = [:]

    var lines: [String] { order.map { "\(requests[$0] ?? ""): \(outcomes[$0] ?? "no answer")" } }

    mutating func take(_ event: DevTools.Event) {
        let parameters = event.parameters
        guard let id = parameters["requestId"].string else { return }
        switch event.method {
        case "Network.requestWillBeSent":
            let request = parameters["request"]
            begin(id, "\(request["method"].string ?? "") \(request["url"].string ?? "")")
        case "Network.webSocketCreated": begin(id, "WebSocket \(parameters["url"].string ?? "")")
        case "Network.responseReceived", "Network.webSocketHandshakeResponseReceived":
            outcomes[id] = parameters["response"]["status"].int.map { "\($0)" }
        case "Network.loadingFailed": outcomes[id] = parameters["errorText"].string
        case "Network.webSocketFrameError": outcomes[id] = parameters["errorMessage"].string
        case "Network.webSocketClosed": outcomes[id] = (outcomes[id] ?? "") + ", closed"
        default: break
        }
    }

    private mutating func begin(_ id: String, _ request: String) {
        if requests.updateValue(request, forKey: id) == nil { order.append(id) }
    }
}
