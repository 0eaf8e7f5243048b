import DoorTestSupport
import Foundation
import TestSupport

/// The messages that a page receives over its WebSockets and event streams.
extension BrowserPage {
    /// Records an issue for each message that the page received and that doesn't fit its description.
    ///
    /// - Returns: The number of messages that the page received.
    @discardableResult
    func judgeWhatIsHeard(_ judge: (_ target: String) -> Doors.Judge? = ProductDoors.judge) throws -> Int {
        var judges: [String: Doors.Judge] = [:]
        var streams: [String: EventStreamDecoder] = [:]
        var count = 0
        for event in events.all {
            let parameters = event.parameters
            guard let request = parameters["requestId"].string else { continue }
            switch event.method {
            case "Network.webSocketCreated": judges[request] = judge(Self.target(parameters["url"]))
            case "Network.webSocketFrameReceived":
                guard let judge = judges[request] else { continue }
                let (content, isText) = (parameters["response"]["payloadData"], parameters["response"]["opcode"] == 1)
                judge(nil, isText ? Array((content.string ?? "").utf8) : Self.bytes(content))
                count += 1
            case _ where event.beginsEventStream:
                judges[request] = judge(Self.target(parameters["response"]["url"]))
                streams[request] = EventStreamDecoder()
            case DevTools.Event.data:
                guard let judge = judges[request] else { continue }
                for case .event(let event) in try streams[request]?.decode(Self.bytes(parameters["data"])) ?? [] {
                    judge(event.event, Array(event.data.utf8))
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
