/// The subscribers whose positions must be read again, one after the other. A value type.
///
/// ```
/// idle ──begin──► one is checked, the others wait ──next──► … ──next, none left──► idle
/// ```
struct ConversationRechecks<Subscriber> {
    private var waiting: [Subscriber] = []
    private var isUnderWay = false

    /// Sets the subscribers to check.
    ///
    /// - Returns: Whether to start with ``next()``. `false` if a check is already running.
    mutating func begin(_ subscribers: some Sequence<Subscriber>) -> Bool {
        waiting = Array(subscribers)
        return !isUnderWay
    }

    /// Records that the current check has ended, or that the first one may start.
    ///
    /// - Returns: The next subscriber to check.
    mutating func next() -> Subscriber? {
        let next = waiting.popLast()
        isUnderWay = next != nil
        return next
    }
}
