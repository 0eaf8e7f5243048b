import Basics
import InterfaceTestSupport
import TestSupport

@testable import LetsSwitchClient

/// A transport to a simulated server.
final class SimulatedTransport: Transport {
    /// The kind of server that the test simulates.
    enum Server {
        /// A daemon, whose messages have to be described.
        case daemon
        /// Another server, with any messages.
        case foreign
    }

    private let server: Server
    /// The results of attempts to connect, in order. Further attempts wait.
    private let outcomes = Locked<[Result<SimulatedLink, ClientError>]>([])
    let attempts = EventRecorder<ClientRequest>()

    init(as server: Server) {
        self.server = server
    }

    /// Accepts the next attempt.
    @discardableResult
    func accept(_ link: SimulatedLink = SimulatedLink()) -> SimulatedLink {
        outcomes.withLock { $0.append(.success(link)) }
        return link
    }

    func refuse(_ error: ClientError) {
        outcomes.withLock { $0.append(.failure(error)) }
    }

    private func next(_ request: ClientRequest) async throws(ClientError) -> any Link {
        attempts.append(request)
        let outcome = outcomes.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let outcome else {
            do { try await Task.sleep(for: .seconds(3600)) } catch {}
            throw .cancelled
        }
        let link = try outcome.get()
        return switch server {
        case .daemon: ValidatingLink(link, InterfaceValidation.validator(request.target))
        case .foreign: link
        }
    }

    func exchange(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
        throw .unreachable("nobody plays that")
    }

    func webSocket(_ request: ClientRequest, subprotocols: [String]) async throws(ClientError) -> any Link {
        try await next(request)
    }

    func eventStream(_ request: ClientRequest) async throws(ClientError) -> any Link {
        try await next(request)
    }
}

/// A connection to the simulated server.
final class SimulatedLink: Link {
    typealias Answer = @Sendable (_ link: SimulatedLink, _ payload: [UInt8]) async -> Void

    private let inputs = EventRecorder<Result<LinkEvent, ClientError>>()
    private let delivered = Locked(0)
    private let taken = Locked(0)
    /// The number of taken events, after each of them.
    private let takes = EventRecorder<Int>()
    /// The number of events that the client had taken when it asked for the next one.
    private let asked = EventRecorder<Int>()
    /// The frames that the client has sent.
    let sent = EventRecorder<LinkFrame>()
    let drops = EventRecorder<Void>()
    /// The answer to a ping, given before the send returns.
    private let answer: Answer

    init(answer: @escaping Answer = { await $0.pong($1) }) {
        self.answer = answer
    }

    func deliver(_ text: String) { deliver(.message(.text, Array(text.utf8))) }
    func deliver(_ event: LinkEvent) { put(.success(event)) }
    func close(_ code: CloseCode, _ reason: String = "") { end(.closed(code, reason: reason)) }
    func end(_ error: ClientError) { put(.failure(error)) }

    private func put(_ input: Result<LinkEvent, ClientError>) {
        delivered.withLock { $0 += 1 }
        inputs.append(input)
    }

    /// Returns when the client has taken this number of events.
    func taken(_ count: Int) async throws {
        try await takes.next("a client that has taken \(count)") { $0 == count }
    }

    /// Returns when the client has taken all events and waits for another one.
    func taken() async throws {
        let count = delivered.withLock { $0 }
        try await asked.next("a client that has taken all") { $0 >= count }
    }

    /// Answers a ping, and returns when the client has taken the answer.
    private func pong(_ payload: [UInt8]) async {
        deliver(.pong(payload))
        let count = delivered.withLock { $0 }
        // A client that doesn't read isn't waited for.
        _ = try? await asked.next("a client that has taken the pong") { $0 >= count }
    }

    func receive() async throws(ClientError) -> LinkEvent {
        asked.append(taken.withLock { $0 })
        do {
            let input = try await inputs.next("what the server says", within: .seconds(3600))
            takes.append(
                taken.withLock {
                    $0 += 1
                    return $0
                })
            return try input.get()
        } catch let error as ClientError {
            throw error
        } catch {
            throw .cancelled
        }
    }

    func send(_ frame: LinkFrame) async throws(ClientError) {
        sent.append(frame)
        if case .ping(let payload) = frame { await answer(self, payload) }
    }

    func drop() { drops.append(()) }
}
