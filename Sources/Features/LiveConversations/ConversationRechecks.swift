/// Who is yet to be asked where its conversations stand, one after the other. A value.
///
/// ```
/// idle ──begin──► one is asked, the others wait ──next──► … ──next, nobody left──► idle
/// ```
struct ConversationRechecks<Subscriber> {
    private var waiting: [Subscriber] = []
    private var isUnderWay = false

    /// All of these are to be asked. While one is asked, it only says who is next.
    ///
    /// - Returns: Whether to go on with ``next()``.
    mutating func begin(_ subscribers: some Sequence<Subscriber>) -> Bool {
        waiting = Array(subscribers)
        return !isUnderWay
    }

    /// Whoever was asked has answered, was refused, or is gone.
    ///
    /// - Returns: Who is to be asked now.
    mutating func next() -> Subscriber? {
        let next = waiting.popLast()
        isUnderWay = next != nil
        return next
    }
}
