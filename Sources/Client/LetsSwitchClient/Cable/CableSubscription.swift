/// What happens to a subscription.
///
/// ```swift
/// if case .message(let message) = event { print(message.type ?? "") }
/// ```
public enum CableEvent: Sendable, Hashable {
    /// The server has us in the channel, also after each loss: `case .confirmed: print("in")`
    case confirmed
    /// The server doesn't let us into the channel; nothing follows: `case .rejected: print("not for us")`
    case rejected
    /// Something was said there: `case .message(let message): print(message.type ?? "")`
    case message(CableMessage)
    /// The connection was lost; what is said meanwhile isn't heard. It is made again: `case .lost: print("lost")`
    case lost
}

/// A channel that is listened to, until it is unsubscribed, or nobody holds this any more.
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

    /// What happens, in order, for one reader. 1,024 events wait for it; one more ends the subscription with
    /// ``ClientError/bufferFull``. Cancelling the reading task unsubscribes.
    ///
    /// ```swift
    /// for try await case .message(let message) in room.events { print(message.type ?? "") }
    /// ```
    public var events: AsyncThrowingStream<CableEvent, any Error> {
        let reading = CableReading(subscriber)
        return AsyncThrowingStream { try await reading.next() }
    }

    /// Has the channel do something; before it is confirmed that waits.
    ///
    /// ```swift
    /// try await chat.perform("speak", ["content": "Good morning"])
    /// ```
    ///
    /// - Throws: ``ClientError/rejected`` when we aren't let in.
    public func perform(_ action: String, _ content: some Encodable & Sendable) async throws {
        try await subscriber.client.perform(CableCommand.action(action, content), subscriber.number)
    }

    /// Has the channel do something that needs no more words.
    ///
    /// ```swift
    /// try await room.perform("ale")
    /// ```
    public func perform(_ action: String) async throws {
        try await perform(action, [String: String]())
    }

    /// Leaves the channel: its events end, and it isn't subscribed again.
    ///
    /// ```swift
    /// await room.unsubscribe()
    /// ```
    public func unsubscribe() async {
        await subscriber.client.leave(subscriber.number)
    }
}

/// Who is subscribed, as long as somebody holds it.
final class CableSubscriber: Sendable {
    let client: CableClient
    let number: UInt64

    init(_ client: CableClient, _ number: UInt64) {
        self.client = client
        self.number = number
    }

    deinit {
        let (client, number) = (client, number)
        Task { await client.forget(number) }
    }
}

/// As ``EventReading``, of one subscription.
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
