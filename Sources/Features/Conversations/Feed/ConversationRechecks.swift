/// The subscribers whose positions must be read again, one after the other. A value.
///
/// ```
/// idle ──begin──► one is checked, the others wait ──next──► … ──next, none left──► idle
/// ```
struct ConversationRechecks<Subscriber> {
    private var waiting: [Subscriber] = []
    private var isUnderWay = false

    /// Adds the subscribers to check. If one is being checked, it only fixes the order.
    ///
    /// - Returns: Whether to continue with ``next()``.
    mutating func begin(_ subscribers: some Sequence<Subscriber>) -> Bool {
        waiting = Array(subscribers)
        return !isUnderWay
    }

    /// Records that the current check has ended.
    ///
    /// - Returns: The next subscriber to check.
    mutating func next() -> Subscriber? {
        let next = waiting.popLast()
        isUnderWay = next != nil
        return next
    }
}
