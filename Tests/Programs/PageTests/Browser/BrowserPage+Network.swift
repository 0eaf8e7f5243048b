import Foundation
import TestSupport

/// Network conditions, and answers given instead of the server's.
extension BrowserPage {
    func emulate(offline: Bool) async throws {
        try await call(
            "Network.emulateNetworkConditions",
            ["offline": .bool(offline), "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1])
    }

    /// Holds matching requests from now on, until ``answer(_:_:with:)`` or ``release()``.
    func hold(_ pattern: String) async throws {
        try await call("Fetch.enable", ["patterns": [["urlPattern": .string(pattern)]]])
    }

    func release() async throws {
        try await call("Fetch.disable")
    }

    /// Answers the next request whose address contains `part` instead of the server. Returns the request.
    @discardableResult
    func answer(_ part: String, _ status: Int = 200, with content: String) async throws -> TestJSON {
        let paused = try await events.next("a request for \(part)") {
            $0.method == "Fetch.requestPaused" && $0.parameters["request"]["url"].string?.contains(part) == true
        }
        try await call(
            "Fetch.fulfillRequest",
            [
                "requestId": paused.parameters["requestId"], "responseCode": .number(Double(status)),
                "body": .string(Data(content.utf8).base64EncodedString()),
            ])
        return paused.parameters["request"]
    }
}
