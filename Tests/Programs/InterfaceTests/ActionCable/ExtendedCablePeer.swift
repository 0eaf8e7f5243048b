import Foundation
import JourneyTestSupport
import TestSupport

/// A raw client of the extended protocol. It knows its position in each stream.
struct ExtendedCablePeer: Sendable {
    let cable: CablePeer
    /// The session's id.
    let session: String
    /// The welcome message as it was received.
    let welcome: String

    static func connect(
        to endpoint: ClientEndpoint, _ device: String, restoring session: String? = nil
    ) async throws -> ExtendedCablePeer {
        let cable = try await CablePeer.connect(
            to: endpoint, "?deviceId=\(device)" + (session.map { "&sid=\($0)" } ?? ""),
            headers: ["Sec-WebSocket-Protocol": "actioncable-v1-ext-json"])
        guard cable.socket.handshake.headers["Sec-WebSocket-Protocol"] == "actioncable-v1-ext-json" else {
            throw ClientFailure.violation("another subprotocol")
        }
        let welcome = try await cable.receive()
        guard let session = try TestJSON(parsing: Array(welcome.utf8))["sid"].string else {
            throw ClientFailure.violation("no session in \(welcome)")
        }
        return ExtendedCablePeer(cable: cable, session: session, welcome: welcome)
    }

    func send(_ command: String, _ identifier: String, _ more: String = "") async throws {
        try await cable.socket.send(
            text: #"{"command":"\#(command)","identifier":\#(CablePeer.quoted(identifier))\#(more)}"#)
    }

    /// Returns the next message with all its members.
    func receive() async throws -> TestJSON { try TestJSON(parsing: Array(try await cable.receive().utf8)) }

    /// Returns the next message of a conversation: its offset, and the epoch of the stream.
    func receiveMessage() async throws -> (offset: Int, epoch: String) {
        let message = try await receive()
        guard message["message"]["type"] == "message", let offset = message["message"]["data"]["offset"].int,
            message["offset"].int == offset, let epoch = message["epoch"].string,
            let conversation = message["message"]["data"]["conversation"].string,
            message["stream_id"].string == "conversation:\(conversation)"
        else { throw ClientFailure.violation("\(message) is no message that is kept") }
        return (offset, epoch)
    }

    func close() async { await cable.socket.close() }

    // MARK: Messages

    static func history(since: Int? = nil, _ conversation: UUID? = nil, after offset: Int = 0, epoch: String = "")
        -> String
    {
        let since = since.map { #""since":\#($0),"# } ?? ""
        let streams = conversation.map { #""conversation:\#($0)":{"offset":\#(offset),"epoch":"\#(epoch)"}"# } ?? ""
        return #","history":{\#(since)"streams":{\#(streams)}}"#
    }

    static func answer(_ type: String, _ identifier: String) -> String {
        #"{"identifier":\#(CablePeer.quoted(identifier)),"type":"\#(type)"}"#
    }
}
