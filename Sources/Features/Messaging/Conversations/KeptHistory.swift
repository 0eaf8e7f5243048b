/// What of a conversation can be told anew.
package struct KeptHistory: Sendable, Hashable {
    /// ``ConversationPage/epoch``.
    package let epoch: String
    package let lastOffset: Int
    /// Of the first message that is kept; one more than the last where none is.
    package let firstOffset: Int
    /// Behind which lies what was said since an instant; `nil` if it wasn't asked for.
    package let sinceOffset: Int?

    package init(epoch: String, lastOffset: Int, firstOffset: Int, sinceOffset: Int? = nil) {
        self.epoch = epoch
        self.lastOffset = lastOffset
        self.firstOffset = firstOffset
        self.sinceOffset = sinceOffset
    }

    /// Whether somebody who has heard it up to an offset can be told all the rest.
    package func continues(_ epoch: String, after offset: Int) -> Bool {
        epoch == self.epoch && offset >= min(firstOffset - 1, lastOffset) && offset <= lastOffset
    }
}
