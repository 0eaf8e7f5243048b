#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Shares ``ReceivedOffsets`` between the task that reads messages and the task that connects.
actor SharedOffsets {
    private var offsets: ReceivedOffsets

    init(_ received: [UUID: Int]) {
        offsets = ReceivedOffsets(received)
    }

    /// Returns the query's value `<conversation>:<offset>,…`.
    func connecting() -> String {
        offsets.connecting().map { "\($0.conversation.uuidString):\($0.after)" }.joined(separator: ",")
    }

    func connected(_ offsets: [UUID: Int]) -> [(conversation: UUID, after: Int)] { self.offsets.connected(offsets) }

    func take(_ conversation: UUID, _ offset: Int) -> ReceivedOffsets.Step { offsets.take(conversation, offset) }

    func take(page: [Int], of conversation: UUID, lastOffset: Int) -> (new: Set<Int>, after: Int?) {
        offsets.take(page: page, of: conversation, lastOffset: lastOffset)
    }

    func refused(_ conversation: UUID) { offsets.refused(conversation) }
}
