import Domain
import Foundation
import TestSupport
import Testing

@testable import Conversations

@Suite struct ConversationProgressTests {
    private let one = UUID()
    private let other = UUID()

    private func page(_ conversation: UUID, _ offsets: ClosedRange<Int>, last: Int? = nil) -> ConversationPage {
        ConversationPage(
            conversation: conversation, kind: .group,
            messages: offsets.map {
                ConversationMessage(
                    id: UUID(), content: "\($0)", author: "user1", date: Instant(seconds: 0),
                    conversation: conversation, offset: $0)
            }, lastOffset: last ?? offsets.upperBound, routingKey: "user1.user2")
    }

    private func position(_ conversation: UUID, _ offset: Int) -> ConversationPositions.Position {
        ConversationPositions.Position(conversation: conversation, lastOffset: offset)
    }

    @Test(
        "A subscriber receives repeated messages from an offset, and new conversations from the beginning")
    func rewind() {
        var progress = ConversationProgress([position(one, 5), position(other, 3)], after: [:])
        progress.rewind(to: [one: 2, other: 9, UUID(): 0])
        #expect(!progress.isCaughtUp)
        #expect(progress.next?.conversation == one && progress.next?.after == 2)
        #expect(progress.published(page(one, 6...6)).isEmpty)
        #expect(progress.read(page(one, 3...6)).map(\.offset) == [3, 4, 5, 6])
        #expect(progress.isCaughtUp)
        #expect(progress.published(page(one, 7...7)).map(\.offset) == [7])
        let new = ConversationProgress([position(one, 5), position(other, 3)], after: [one: 5], othersAreNew: true)
        #expect(new.next?.conversation == other && new.next?.after == 0)
    }

    @Test("Only the next message is sent, and a later one waits for the missing ones")
    func gaps() {
        var progress = ConversationProgress([position(one, 3)], after: [:])
        #expect(progress.isCaughtUp)
        #expect(progress.published(page(one, 3...4)).map(\.offset) == [4])
        #expect(progress.published(page(one, 4...4)).isEmpty && progress.isCaughtUp)
        #expect(progress.published(page(one, 7...7)).isEmpty)
        #expect(progress.next?.conversation == one && progress.next?.after == 4)
        // Messages of other conversations aren't published before.
        #expect(progress.published(page(other, 1...1)).isEmpty)
        #expect(progress.read(page(one, 5...6, last: 7)).map(\.offset) == [5, 6])
        #expect(progress.next?.after == 6)
        #expect(progress.read(page(one, 7...7)).map(\.offset) == [7])
        #expect(progress.next?.conversation == other)
        #expect(progress.read(page(other, 1...2)).map(\.offset) == [1, 2])
        #expect(progress.isCaughtUp && progress.published(page(one, 8...8)).count == 1)
    }

    @Test("A subscriber starts at its position, and never after the end")
    func beginnings() {
        var progress = ConversationProgress([position(one, 3), position(other, 5)], after: [one: 1, other: 9])
        #expect(progress.next?.conversation == one && progress.next?.after == 1)
        #expect(progress.read(page(one, 3...3)).map(\.offset) == [3])
        #expect(progress.isCaughtUp)
        #expect(progress.published(page(other, 6...6)).count == 1)
        progress.found([position(one, 4), position(other, 6)])
        #expect(progress.next?.conversation == one)
        progress.remove(one)
        #expect(progress.isCaughtUp)
    }

    @Test("Purged messages aren't sent or waited for")
    func purged() {
        var progress = ConversationProgress([position(one, 10)], after: [one: 0])
        let nothing = ConversationPage(conversation: one, kind: .group, messages: [], lastOffset: 10, routingKey: "")
        #expect(progress.read(nothing).isEmpty && progress.isCaughtUp)
        #expect(progress.published(page(one, 11...11)).count == 1)
    }

    @Test("A message sent while its conversation is read arrives")
    func saidMeanwhile() {
        let nothing = {
            ConversationPage(conversation: one, kind: .group, messages: [], lastOffset: $0, routingKey: "")
        }
        var progress = ConversationProgress([position(one, 40)], after: [one: 38])
        #expect(progress.published(page(one, 41...41)).isEmpty)
        #expect(progress.read(page(one, 39...40)).count == 2)
        #expect(progress.next?.after == 40)
        #expect(progress.read(page(one, 41...41)).map(\.offset) == [41])
        #expect(progress.isCaughtUp)
        progress.found([position(one, 45)])
        // The lookup was before that message.
        #expect(progress.read(nothing(41)).isEmpty && progress.next?.after == 41)
        #expect(progress.published(page(one, 46...46)).isEmpty)
        #expect(progress.read(nothing(41)).isEmpty && progress.next?.after == 41)
        #expect(progress.read(nothing(41)).isEmpty && progress.isCaughtUp)
    }

    @Test("Each offset is sent once and in order in any interleaving of publications, pages and positions")
    func interleavings() {
        for seed in 0..<500 {
            var random = SeededRandom(seed: UInt64(seed))
            var world = World(conversations: [one, other])
            for _ in 0..<200 { world.step(page: { page($0, $1, last: $2) }, &random) }
            world.settle(page: { page($0, $1, last: $2) }, &random)
            for (conversation, last) in world.last {
                #expect(world.received[conversation, default: []] == Array(0..<last).map { $0 + 1 }, "seed \(seed)")
            }
        }
    }
}

/// A simulated database with its notifications, and a subscriber.
private struct World {
    private enum Reading {
        case idle
        case asked(UUID, after: Int)
        case onItsWay(ConversationPage)
    }

    typealias Page = (UUID, ClosedRange<Int>, Int) -> ConversationPage

    let conversations: [UUID]
    var last: [UUID: Int]
    var received: [UUID: [Int]] = [:]
    private var announced: [(conversation: UUID, offset: Int)] = []
    private var positions: [ConversationPositions.Position]?
    private var reading = Reading.idle
    private var progress: ConversationProgress

    init(conversations: [UUID]) {
        self.conversations = conversations
        last = Dictionary(uniqueKeysWithValues: conversations.map { ($0, 5) })
        progress = ConversationProgress(
            conversations.map { ConversationPositions.Position(conversation: $0, lastOffset: 5) },
            after: Dictionary(uniqueKeysWithValues: conversations.map { ($0, 0) }))
    }

    mutating func step(page: Page, _ random: inout SeededRandom) {
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            let conversation = conversations[Int.random(in: 0..<conversations.count, using: &random)]
            last[conversation, default: 0] += 1
            announced.append((conversation, last[conversation, default: 0]))
        case 2, 3: publish(page: page, &random)
        case 4:
            if let found = positions {
                progress.found(found)
                positions = nil
            } else {
                positions = last.map { ConversationPositions.Position(conversation: $0.key, lastOffset: $0.value) }
            }
        default: read(page: page, &random)
        }
    }

    /// Publishes pages in any order, some of them twice.
    private mutating func publish(page: Page, _ random: inout SeededRandom) {
        guard !announced.isEmpty else { return }
        let index = Int.random(in: 0..<min(3, announced.count), using: &random)
        let (conversation, offset) = announced[index]
        if Int.random(in: 0..<4, using: &random) > 0 { announced.remove(at: index) }
        receive(progress.published(page(conversation, offset...offset, offset)))
    }

    private mutating func read(page: Page, _ random: inout SeededRandom) {
        switch reading {
        case .idle:
            if let next = progress.next { reading = .asked(next.conversation, after: next.after) }
        case .asked(let conversation, let after):
            let end = last[conversation, default: 0]
            let through = min(end, after + Int.random(in: 1...3, using: &random))
            reading = .onItsWay(
                through > after
                    ? page(conversation, after + 1...through, end)
                    : ConversationPage(
                        conversation: conversation, kind: .group, messages: [], lastOffset: end, routingKey: ""))
        case .onItsWay(let page):
            reading = .idle
            receive(progress.read(page))
        }
    }

    /// Delivers all notifications, and performs all reads that the progress asks for.
    mutating func settle(page: Page, _ random: inout SeededRandom) {
        var limit = 10_000
        while limit > 0 {
            limit -= 1
            if !announced.isEmpty { publish(page: page, &random) }
            if announced.isEmpty, progress.isCaughtUp, case .idle = reading { return }
            read(page: page, &random)
        }
    }

    private mutating func receive(_ messages: ArraySlice<ConversationMessage>) {
        for message in messages { received[message.conversation, default: []].append(message.offset) }
    }
}
