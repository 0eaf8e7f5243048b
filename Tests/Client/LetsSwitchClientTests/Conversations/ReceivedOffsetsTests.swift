import Foundation
import TestSupport
import Testing

@testable import LetsSwitchClient

@Suite struct ReceivedOffsetsTests {
    private let tea = UUID()

    @Test("A gap is requested once, and a repeated message is ignored")
    func steps() {
        var offsets = ReceivedOffsets([:])
        #expect(offsets.connected([tea: 4]).isEmpty)
        #expect(offsets.take(tea, 4) == .repeated)
        #expect(offsets.take(tea, 5) == .next)
        #expect(offsets.take(tea, 8) == .ask(after: 5))
        #expect(offsets.take(tea, 9) == .waits)
        // The page was read before message 9.
        let first = offsets.take(page: [6, 7, 8], of: tea, lastOffset: 8)
        #expect(first.new == [6, 7, 8])
        #expect(first.after == 8)
        let second = offsets.take(page: [9], of: tea, lastOffset: 9)
        #expect(second.new == [9])
        #expect(second.after == nil)
        #expect(offsets.take(tea, 10) == .next)
    }

    @Test("An unknown conversation begins with its next message")
    func unknown() {
        var offsets = ReceivedOffsets([:])
        #expect(offsets.take(tea, 7) == .next)
        #expect(offsets.take(tea, 8) == .next)
    }

    @Test("A conversation that was created without a connection is received from its beginning")
    func made() {
        var offsets = ReceivedOffsets([:])
        #expect(offsets.connected([tea: 4]).isEmpty)
        let new = UUID()
        let missing = offsets.connected([tea: 4, new: 3])
        #expect(missing.map(\.conversation) == [new] && missing.map(\.after) == [0])
        // Unless it may be an old one that the first handshake couldn't name.
        var many = ReceivedOffsets([:])
        let initial = Dictionary(uniqueKeysWithValues: (0..<ReceivedOffsets.namedInHandshake).map { _ in (UUID(), 1) })
        #expect(many.connected(initial).isEmpty)
        #expect(many.connected([new: 3]).isEmpty)
    }

    @Test("A repeated page skips no message")
    func twice() {
        var offsets = ReceivedOffsets([tea: 2])
        #expect(offsets.connected([tea: 9]).map(\.after) == [2])
        #expect(offsets.take(page: [3, 4], of: tea, lastOffset: 9).after == 4)
        let again = offsets.take(page: [3, 4], of: tea, lastOffset: 9)
        #expect(again.new.isEmpty && again.after == nil)
        #expect(offsets.connected([tea: 9]).map(\.after) == [4])
    }

    @Test("Purged messages are not requested again")
    func purged() {
        var offsets = ReceivedOffsets([tea: 2])
        #expect(offsets.connected([tea: 9]).map(\.after) == [2])
        let some = offsets.take(page: [8, 9], of: tea, lastOffset: 9)
        #expect(some.new == [8, 9] && some.after == nil)
        #expect(offsets.connected([tea: 20]).map(\.after) == [9])
        let none = offsets.take(page: [], of: tea, lastOffset: 20)
        #expect(none.new.isEmpty && none.after == nil)
        #expect(offsets.take(tea, 21) == .next)
    }

    @Test("The messages that the server doesn't send are requested")
    func named() {
        var offsets = ReceivedOffsets([tea: 2])
        #expect(offsets.connecting().map(\.after) == [2])
        let other = UUID()
        #expect(offsets.connected([tea: 9, other: 4]).isEmpty)
        #expect(offsets.take(tea, 3) == .next)
        #expect(offsets.take(other, 5) == .next)
        // The latest conversation is named first. A conversation that was created without a connection isn't named.
        let named = offsets.connecting()
        #expect(named.map(\.conversation) == [other, tea] && named.map(\.after) == [5, 3])
        let made = UUID()
        #expect(offsets.connected([tea: 9, other: 9, made: 2]).map(\.conversation) == [made])
        // A message that was purged meanwhile is still requested.
        #expect(offsets.take(tea, 6) == .ask(after: 3))
    }

    @Test("A request names the conversations with the latest messages, up to its limit")
    func manyNamed() {
        let many = (0..<ReceivedOffsets.namedInRequest + 20).map { _ in UUID() }
        var offsets = ReceivedOffsets(Dictionary(uniqueKeysWithValues: many.map { ($0, 1) }))
        for conversation in many.dropLast(20) { #expect(offsets.take(conversation, 2) == .next) }
        #expect(Set(offsets.connecting().map(\.conversation)) == Set(many.dropLast(20)))
        let missing = offsets.connected(Dictionary(uniqueKeysWithValues: many.map { ($0, 3) }))
        #expect(Set(missing.map(\.conversation)) == Set(many.suffix(20)))
    }

    @Test("After a refused request, the next message triggers another one")
    func refused() {
        var offsets = ReceivedOffsets([tea: 1])
        #expect(offsets.take(tea, 3) == .ask(after: 1))
        offsets.refused(tea)
        #expect(offsets.take(tea, 4) == .ask(after: 1))
    }

    @Test("Each message is received once and in order, even if connections are lost", arguments: UInt64(0)..<50)
    func property(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var offsets = ReceivedOffsets([tea: 0])
        var (sent, received) = (0, [Int]())
        /// Requested pages that haven't arrived.
        var asked: [Int] = []
        func answer() {
            guard !asked.isEmpty else { return }
            let after = asked.removeFirst()
            let page = Array((after..<sent).prefix(3).map { $0 + 1 })
            let taken = offsets.take(page: page, of: tea, lastOffset: sent)
            received += page.filter(taken.new.contains)
            if let after = taken.after { asked.append(after) }
        }
        for _ in 0..<200 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:  // a new connection, without answers to earlier requests
                asked = offsets.connected([tea: sent]).map(\.after)
            case 1: sent += 1  // a message that isn't received
            case 2: answer()
            default:
                sent += 1
                switch offsets.take(tea, sent) {
                case .next: received.append(sent)
                case .ask(let after): asked.append(after)
                case .waits, .repeated: break
                }
            }
        }
        asked = offsets.connected([tea: sent]).map(\.after)
        while !asked.isEmpty { answer() }
        #expect(received == (0..<sent).map { $0 + 1 })
    }
}
