/// The part of a conversation's history that can be repeated.
package struct KeptHistory: Sendable, Hashable {
    /// The value of ``ConversationPage/epoch``.
    package let epoch: String
    package let lastOffset: Int
    /// The offset of the first stored message. If none is stored, the last offset plus one.
    package let firstOffset: Int
    /// Messages since the requested instant have greater offsets than this. `nil` if no instant was requested.
    package let sinceOffset: Int?

    package init(epoch: String, lastOffset: Int, firstOffset: Int, sinceOffset: Int? = nil) {
        self.epoch = epoch
        self.lastOffset = lastOffset
        self.firstOffset = firstOffset
        self.sinceOffset = sinceOffset
    }

    /// Returns whether all messages after an offset are still stored.
    package func continues(_ epoch: String, after offset: Int) -> Bool {
        epoch == self.epoch && offset >= min(firstOffset - 1, lastOffset) && offset <= lastOffset
    }
}
