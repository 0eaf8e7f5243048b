/// A channel whose messages change a ``Store``. ``Effects`` runs it.
///
/// The effect gathers messages until none has arrived for the time `quiet`, or until the first one has waited for the
/// time `batch`. All of them then become one change, in their order.
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

    /// Creates an effect without starting it.
    ///
    /// ```swift
    /// ChannelEffect(channel: { await cable.subscribe("ChatChannel", ["id": id]) }, output: Messages(), actions:
    /// Show()) { .failed("\($0)") }
    /// ```
    ///
    /// - Parameters:
    ///   - batch: The longest time that a message waits for later messages.
    ///   - quiet: The time that a message waits if no other message arrives.
    ///   - failure: Returns the action for a message that can't be decoded, or for a rejected channel
    ///     (``ClientError/rejected``).
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

    /// Returns the result of an event, or `nil` if the event has none.
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
