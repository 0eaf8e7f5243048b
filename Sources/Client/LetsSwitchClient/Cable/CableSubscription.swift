/// An event of a subscription.
///
/// ```swift
/// if case .message(let message) = event { print(message.type ?? "") }
/// ```
public enum CableEvent: Sendable, Hashable {
    /// The server has confirmed the subscription, for the first time or after a lost connection: `case .confirmed:
    /// print("in")`
    case confirmed
    /// The server has rejected the subscription. No event follows: `case .rejected: print("rejected")`
    case rejected
    /// The channel has sent a message: `case .message(let message): print(message.type ?? "")`
    case message(CableMessage)
    /// The connection was lost. The client connects again, but misses the messages that are sent before the
    /// subscription is confirmed again: `case .lost: print("lost")`
    case lost
}

/// A subscription of a channel. It ends with ``unsubscribe()``, or when the last reference to it is released.
///
/// ```swift
/// let room = await client.cable.subscribe("RoomChannel", ["id": roomID.uuidString])
/// for try await event in room.events {
///     switch event {
///     case .confirmed: try await room.perform("ale")
///     case .message(let message): print(message.type ?? "")
///     case .rejected, .lost: break
///     }
/// }
/// ```
public struct CableSubscription: Sendable {
    private let subscriber: CableSubscriber

    init(_ subscriber: CableSubscriber) {
        self.subscriber = subscriber
    }

    /// The subscription's events in order, for one reader. At most 1,024 events wait for the reader. One more event
    /// ends the subscription with ``ClientError/bufferFull``. Cancelling the reading task unsubscribes.
    ///
    /// ```swift
    /// for try await case .message(let message) in room.events { print(message.type ?? "") }
    /// ```
    public var events: AsyncThrowingStream<CableEvent, any Error> {
        let reading = CableReading(subscriber)
        return AsyncThrowingStream { try await reading.next() }
    }

    /// Performs an action of the channel. The action waits until the subscription is confirmed.
    ///
    /// ```swift
    /// try await chat.perform("speak", ["content": "Good morning"])
    /// ```
    ///
    /// - Throws: ``ClientError/rejected`` if the server rejects the subscription.
    public func perform(_ action: String, _ content: some Encodable & Sendable) async throws {
        try await subscriber.client.perform(CableCommand.action(action, content), subscriber.number)
    }

    /// Performs an action without content.
    ///
    /// ```swift
    /// try await room.perform("ale")
    /// ```
    public func perform(_ action: String) async throws {
        try await perform(action, [String: String]())
    }

    /// Ends the subscription. Its events end, and the client doesn't subscribe again.
    ///
    /// ```swift
    /// await room.unsubscribe()
    /// ```
    public func unsubscribe() async {
        await subscriber.client.leave(subscriber.number)
    }
}

/// The owner of a subscription. The subscription ends when this object is released.
final class CableSubscriber: Sendable {
    let client: CableClient
    let number: UInt64

    init(_ client: CableClient, _ number: UInt64) {
        self.client = client
        self.number = number
    }

    deinit {
        let (client, number) = (client, number)
        Task { await client.release(number) }
    }
}

/// The reader of one subscription, like ``EventReading``.
private final class CableReading: Sendable {
    private let subscriber: CableSubscriber

    init(_ subscriber: CableSubscriber) {
        self.subscriber = subscriber
    }

    deinit {
        guard Task.isCancelled else { return }
        let subscriber = subscriber
        Task { await subscriber.client.leave(subscriber.number) }
    }

    func next() async throws -> CableEvent? { try await subscriber.client.next(subscriber.number) }
}
