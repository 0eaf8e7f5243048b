import InterfaceTestSupport
import TestSupport

@testable import LetsSwitchClient

/// A transport to a daemon that checks every answer against the described interface. An answer that isn't described
/// fails the test.
struct ValidatingTransport: Transport, CustomStringConvertible {
    private let transport: any Transport
    /// The server's address.
    let description: String
    private let validator: @Sendable (_ target: String) -> MessageValidation.Validator?

    init(
        _ transport: any Transport, at address: String = "",
        validator: @escaping @Sendable (_ target: String) -> MessageValidation.Validator? = InterfaceValidation
            .validator
    ) {
        (self.transport, description, self.validator) = (transport, address, validator)
    }

    init(to endpoint: ClientEndpoint) throws {
        let server = try ServerAddress("\(endpoint)")
        self.init(systemTransport(to: server), at: "\(server)")
    }

    func exchange(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
        let response = try await transport.exchange(request)
        if response.status >= 400 { MessageValidation.refusalValidator?(response.status, response.body) }
        return response
    }

    func webSocket(_ request: ClientRequest, subprotocols: [String]) async throws(ClientError) -> any Link {
        ValidatingLink(try await transport.webSocket(request, subprotocols: subprotocols), validator(request.target))
    }

    func eventStream(_ request: ClientRequest) async throws(ClientError) -> any Link {
        ValidatingLink(try await transport.eventStream(request), validator(request.target))
    }
}

/// A link that checks events when they are received.
struct ValidatingLink: Link {
    private let link: any Link
    private let validator: MessageValidation.Validator?

    init(_ link: any Link, _ validator: MessageValidation.Validator?) {
        (self.link, self.validator) = (link, validator)
    }

    func receive() async throws(ClientError) -> LinkEvent {
        let event = try await link.receive()
        switch event {
        case .message(_, let bytes): validator?(nil, bytes)
        case .event(let type, let data, _): validator?(type, Array(data.utf8))
        case .pong, .alive: break
        }
        return event
    }

    func send(_ frame: LinkFrame) async throws(ClientError) { try await link.send(frame) }
    func drop() { link.drop() }
}
