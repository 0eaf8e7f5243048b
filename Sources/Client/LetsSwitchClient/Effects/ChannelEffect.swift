/// A channel whose messages change a ``Store``: run by ``Effects``.
///
/// Messages are gathered, until none has come for a while (`quiet`), but not for long (`batch`). All of them then become one change,
/// in their order. None is left out.
///
/// ```swift
/// let chats = ChannelEffect(
///     channel: { await cable.subscribe("NotificationsChannel") }, output: Chats(), actions: ChatActions(),
///     failure: { .failed("\($0)") })
/// ```
public struct ChannelEffect<O: OutputMapping, A: ActionMapping>: Sendable where O.Output == A.Output {
    let channel: @Sendable () async -> CableSubscription
    let output: O
    let actions: A
    let batch: Duration
    let quiet: Duration
    let failure: @Sendable (any Error) -> A.Action

    /// An effect that hasn't begun.
    ///
    /// ```swift
    /// ChannelEffect(channel: { await cable.subscribe("ChatChannel", ["id": id]) }, output: Messages(), actions: Show()) { .failed("\($0)") }
    /// ```
    ///
    /// - Parameters:
    ///   - batch: How long a message waits for others, at most.
    ///   - quiet: How long it waits when no other comes.
    ///   - failure: What a message that can't be understood does, or a channel that isn't for us (``ClientError/rejected``).
    public init(
        channel: @escaping @Sendable () async -> CableSubscription, output: O, actions: A,
        batch: Duration = .seconds(0.33), quiet: Duration = .seconds(0.2),
        failure: @escaping @Sendable (any Error) -> A.Action
    ) {
        self.channel = channel
        self.output = output
        self.actions = actions
        self.batch = batch
        self.quiet = quiet
        self.failure = failure
    }

    /// What comes of an event; `nil` when nothing does.
    func result(of event: CableEvent) -> Result<O.Output, any Error>? {
        switch event {
        case .confirmed, .lost: return nil
        case .rejected: return .failure(ClientError.rejected)
        case .message(let message):
            do { return try output.map(message).map { .success($0) } } catch { return .failure(error) }
        }
    }

    func actions(for result: Result<O.Output, any Error>, in state: A.State) -> [A.Action] {
        switch result {
        case .success(let output): actions.actions(for: output, in: state)
        case .failure(let error): [failure(error)]
        }
    }
}
