import Foundation
import InterfaceTestSupport
import TestSupport

/// The messages that a page receives over its WebSockets and event streams.
extension BrowserPage {
    /// Records an issue for each message that the page received and that doesn't fit its description.
    ///
    /// - Returns: The number of messages that the page received.
    @discardableResult
    func validateReceivedMessages(
        _ validator: (_ target: String) -> MessageValidation.Validator? = InterfaceValidation.validator
    ) throws -> Int {
        var validators: [String: MessageValidation.Validator] = [:]
        var streams: [String: EventStreamDecoder] = [:]
        var count = 0
        for event in events.all {
            let parameters = event.parameters
            guard let request = parameters["requestId"].string else { continue }
            switch event.method {
            case "Network.webSocketCreated": validators[request] = validator(Self.target(parameters["url"]))
            case "Network.webSocketFrameReceived":
                guard let validator = validators[request] else { continue }
                let (content, isText) = (parameters["response"]["payloadData"], parameters["response"]["opcode"] == 1)
                validator(nil, isText ? Array((content.string ?? "").utf8) : Self.bytes(content))
                count += 1
            case _ where event.beginsEventStream:
                validators[request] = validator(Self.target(parameters["response"]["url"]))
                streams[request] = EventStreamDecoder()
            case DevTools.Event.data:
                guard let validator = validators[request] else { continue }
                for case .event(let event) in try streams[request]?.decode(Self.bytes(parameters["data"])) ?? [] {
                    validator(event.event, Array(event.data.utf8))
                    count += 1
                }
            default: break
            }
        }
        return count
    }

    private static func target(_ address: TestJSON) -> String {
        let url = address.string.flatMap { URLComponents(string: $0) }
        return (url?.percentEncodedPath ?? "") + (url?.percentEncodedQuery.map { "?\($0)" } ?? "")
    }

    private static func bytes(_ text: TestJSON) -> [UInt8] {
        text.string.flatMap { Data(base64Encoded: $0) }.map { Array($0) } ?? []
    }
}
