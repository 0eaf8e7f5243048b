import Basics
import TestSupport

@testable import LetsSwitchClient

/// Connections of which the test plays the server's end.
final class PlayedTransport: Transport {
    /// What became of attempts, in order; when they are used up, attempts wait.
    private let outcomes = Locked<[Result<PlayedLink, ClientError>]>([])
    let attempts = EventRecorder<ClientRequest>()

    /// The next attempt is let in.
    @discardableResult
    func admit() -> PlayedLink {
        let link = PlayedLink()
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
        return try outcome.get()
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

/// One such connection.
final class PlayedLink: Link {
    private let inputs = EventRecorder<Result<LinkEvent, ClientError>>()
    /// What the client sent.
    let sent = EventRecorder<LinkFrame>()
    let drops = EventRecorder<Void>()

    func say(_ text: String) { inputs.append(.success(.message(.text, Array(text.utf8)))) }
    func say(_ event: LinkEvent) { inputs.append(.success(event)) }
    func close(_ code: CloseCode, _ reason: String = "") { end(.closed(code, reason: reason)) }
    func end(_ error: ClientError) { inputs.append(.failure(error)) }

    func receive() async throws(ClientError) -> LinkEvent {
        do {
            return try await inputs.next("what the server says", within: .seconds(3600)).get()
        } catch let error as ClientError {
            throw error
        } catch {
            throw .cancelled
        }
    }

    func send(_ frame: LinkFrame) async throws(ClientError) {
        sent.append(frame)
        if case .ping(let payload) = frame { say(.pong(payload)) }
    }

    func drop() { drops.append(()) }
}
