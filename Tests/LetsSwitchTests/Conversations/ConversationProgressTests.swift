import Domain
import Foundation
import Messaging
import TestSupport
import Testing

@testable import LetsSwitch

@Suite struct ConversationProgressTests {
    private let one = UUID()
    private let other = UUID()

    private func page(_ conversation: UUID, _ offsets: ClosedRange<Int>, last: Int? = nil) -> ConversationPage {
        ConversationPage(
            conversation: conversation,
            messages: offsets.map {
                ConversationMessage(
                    id: UUID(), content: "\($0)", author: "user1", date: Instant(seconds: 0),
                    conversation: conversation, offset: $0)
            }, lastOffset: last ?? offsets.upperBound, routingKey: "user1.user2")
    }

    private func position(_ conversation: UUID, _ offset: Int) -> ConversationPositions.Position {
        ConversationPositions.Position(conversation: conversation, lastOffset: offset)
    }

    @Test("What comes next is heard, what was heard isn't, and what lacks something waits until that was read")
    func gaps() {
        var progress = ConversationProgress([position(one, 3)], after: [:])
        #expect(progress.isCaughtUp)
        #expect(progress.published(page(one, 3...4)).map(\.offset) == [4])
        #expect(progress.published(page(one, 4...4)).isEmpty && progress.isCaughtUp)
        #expect(progress.published(page(one, 7...7)).isEmpty)
        #expect(progress.next?.conversation == one && progress.next?.after == 4)
        // Nothing of others is heard before.
        #expect(progress.published(page(other, 1...1)).isEmpty)
        #expect(progress.read(page(one, 5...6, last: 7)).map(\.offset) == [5, 6])
        #expect(progress.next?.after == 6)
        #expect(progress.read(page(one, 7...7)).map(\.offset) == [7])
        #expect(progress.next?.conversation == other)
        #expect(progress.read(page(other, 1...2)).map(\.offset) == [1, 2])
        #expect(progress.isCaughtUp && progress.published(page(one, 8...8)).count == 1)
    }

    @Test("It begins where it is told, at the end elsewhere, and never behind the end")
    func beginnings() {
        var progress = ConversationProgress([position(one, 3), position(other, 5)], after: [one: 1, other: 9])
        #expect(progress.next?.conversation == one && progress.next?.after == 1)
        #expect(progress.read(page(one, 3...3)).map(\.offset) == [3])
        #expect(progress.isCaughtUp)
        #expect(progress.published(page(other, 6...6)).count == 1)
        progress.found([position(one, 4), position(other, 6)])
        #expect(progress.next?.conversation == one)
        progress.forget(one)
        #expect(progress.isCaughtUp)
    }

    @Test("Of what was purged nothing comes, and nothing waits for it")
    func purged() {
        var progress = ConversationProgress([position(one, 10)], after: [one: 0])
        let nothing = ConversationPage(conversation: one, messages: [], lastOffset: 10, routingKey: "")
        #expect(progress.read(nothing).isEmpty && progress.isCaughtUp)
        #expect(progress.published(page(one, 11...11)).count == 1)
    }
}
