import DoorTestSupport
import TestSupport

@testable import LetsSwitchClient

/// A transport to a daemon that checks every answer against the described interface. An answer that isn't described
/// fails the test.
struct JudgedTransport: Transport, CustomStringConvertible {
    private let transport: any Transport
    /// The server's address.
    let description: String
    private let judge: @Sendable (_ target: String) -> Doors.Judge?

    init(
        _ transport: any Transport, at address: String = "",
        judge: @escaping @Sendable (_ target: String) -> Doors.Judge? = ProductDoors.judge
    ) {
        (self.transport, description, self.judge) = (transport, address, judge)
    }

    init(to endpoint: ClientEndpoint) throws {
        let server = try ServerAddress("\(endpoint)")
        self.init(systemTransport(to: server), at: "\(server)")
    }

    func exchange(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
        let response = try await transport.exchange(request)
        if response.status >= 400 { Doors.judgeOfRefusals?(response.status, response.body) }
        return response
    }

    func webSocket(_ request: ClientRequest, subprotocols: [String]) async throws(ClientError) -> any Link {
        JudgedLink(try await transport.webSocket(request, subprotocols: subprotocols), judge(request.target))
    }

    func eventStream(_ request: ClientRequest) async throws(ClientError) -> any Link {
        JudgedLink(try await transport.eventStream(request), judge(request.target))
    }
}

/// A link that checks events when they are received.
struct JudgedLink: Link {
    private let link: any Link
    private let judge: Doors.Judge?

    init(_ link: any Link, _ judge: Doors.Judge?) {
        (self.link, self.judge) = (link, judge)
    }

    func receive() async throws(ClientError) -> LinkEvent {
        let event = try await link.receive()
        switch event {
        case .message(_, let bytes): judge?(nil, bytes)
        case .event(let type, let data, _): judge?(type, Array(data.utf8))
        case .pong, .alive: break
        }
        return event
    }

    func send(_ frame: LinkFrame) async throws(ClientError) { try await link.send(frame) }
    func drop() { link.drop() }
}
