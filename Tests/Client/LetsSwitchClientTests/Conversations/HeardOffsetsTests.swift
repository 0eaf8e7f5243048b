import Foundation
import TestSupport
import Testing

@testable import LetsSwitchClient

@Suite struct HeardOffsetsTests {
    private let tea = UUID()

    @Test("The next message is received, a repeat is ignored, and a gap is requested once")
    func steps() {
        var heard = HeardOffsets([:])
        #expect(heard.connected([tea: 4]).isEmpty)
        #expect(heard.take(tea, 4) == .repeated)
        #expect(heard.take(tea, 5) == .hear)
        #expect(heard.take(tea, 8) == .ask(after: 5))
        #expect(heard.take(tea, 9) == .waits)
        // The page was read before message 9.
        let first = heard.take(page: [6, 7, 8], of: tea, lastOffset: 8)
        #expect(first.new == [6, 7, 8])
        #expect(first.after == 8)
        let second = heard.take(page: [9], of: tea, lastOffset: 9)
        #expect(second.new == [9])
        #expect(second.after == nil)
        #expect(heard.take(tea, 10) == .hear)
    }

    @Test("An unknown conversation begins with its next message")
    func unknown() {
        var heard = HeardOffsets([:])
        #expect(heard.take(tea, 7) == .hear)
        #expect(heard.take(tea, 8) == .hear)
    }

    @Test("A conversation that was created without a connection is received from its beginning")
    func made() {
        var heard = HeardOffsets([:])
        #expect(heard.connected([tea: 4]).isEmpty)
        let new = UUID()
        let missing = heard.connected([tea: 4, new: 3])
        #expect(missing.map(\.conversation) == [new] && missing.map(\.after) == [0])
        // Unless it may be an old one that the first handshake couldn't name.
        var many = HeardOffsets([:])
        let offsets = Dictionary(uniqueKeysWithValues: (0..<HeardOffsets.namedInHandshake).map { _ in (UUID(), 1) })
        #expect(many.connected(offsets).isEmpty)
        #expect(many.connected([new: 3]).isEmpty)
    }

    @Test("A repeated page skips no message")
    func twice() {
        var heard = HeardOffsets([tea: 2])
        #expect(heard.connected([tea: 9]).map(\.after) == [2])
        #expect(heard.take(page: [3, 4], of: tea, lastOffset: 9).after == 4)
        let again = heard.take(page: [3, 4], of: tea, lastOffset: 9)
        #expect(again.new.isEmpty && again.after == nil)
        #expect(heard.connected([tea: 9]).map(\.after) == [4])
    }

    @Test("Purged messages are not requested again")
    func purged() {
        var heard = HeardOffsets([tea: 2])
        #expect(heard.connected([tea: 9]).map(\.after) == [2])
        let some = heard.take(page: [8, 9], of: tea, lastOffset: 9)
        #expect(some.new == [8, 9] && some.after == nil)
        #expect(heard.connected([tea: 20]).map(\.after) == [9])
        let none = heard.take(page: [], of: tea, lastOffset: 20)
        #expect(none.new.isEmpty && none.after == nil)
        #expect(heard.take(tea, 21) == .hear)
    }

    @Test("The server sends messages after the offsets in the request, and all others are requested")
    func named() {
        var heard = HeardOffsets([tea: 2])
        #expect(heard.connecting().map(\.after) == [2])
        let other = UUID()
        #expect(heard.connected([tea: 9, other: 4]).isEmpty)
        #expect(heard.take(tea, 3) == .hear)
        #expect(heard.take(other, 5) == .hear)
        // The latest conversation is named first. A conversation that was created without a connection isn't named.
        let named = heard.connecting()
        #expect(named.map(\.conversation) == [other, tea] && named.map(\.after) == [5, 3])
        let made = UUID()
        #expect(heard.connected([tea: 9, other: 9, made: 2]).map(\.conversation) == [made])
        // A message that was purged meanwhile is still requested.
        #expect(heard.take(tea, 6) == .ask(after: 3))
    }

    @Test("A request names the conversations with the latest messages, up to its limit")
    func manyNamed() {
        let many = (0..<HeardOffsets.namedInRequest + 20).map { _ in UUID() }
        var heard = HeardOffsets(Dictionary(uniqueKeysWithValues: many.map { ($0, 1) }))
        for conversation in many.dropLast(20) { #expect(heard.take(conversation, 2) == .hear) }
        #expect(Set(heard.connecting().map(\.conversation)) == Set(many.dropLast(20)))
        let missing = heard.connected(Dictionary(uniqueKeysWithValues: many.map { ($0, 3) }))
        #expect(Set(missing.map(\.conversation)) == Set(many.suffix(20)))
    }

    @Test("After a refused request, the next message triggers another one")
    func refused() {
        var heard = HeardOffsets([tea: 1])
        #expect(heard.take(tea, 3) == .ask(after: 1))
        heard.refused(tea)
        #expect(heard.take(tea, 4) == .ask(after: 1))
    }

    @Test("Each message is received once and in order, whatever connections are lost", arguments: UInt64(0)..<50)
    func property(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var heard = HeardOffsets([tea: 0])
        var (said, got) = (0, [Int]())
        /// Requested pages that haven't arrived.
        var asked: [Int] = []
        func answer() {
            guard !asked.isEmpty else { return }
            let after = asked.removeFirst()
            let page = Array((after..<said).prefix(3).map { $0 + 1 })
            let taken = heard.take(page: page, of: tea, lastOffset: said)
            got += page.filter(taken.new.contains)
            if let after = taken.after { asked.append(after) }
        }
        for _ in 0..<200 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:  // a new connection, without answers to earlier requests
                asked = heard.connected([tea: said]).map(\.after)
            case 1: said += 1  // a message that isn't received
            case 2: answer()
            default:
                said += 1
                switch heard.take(tea, said) {
                case .hear: got.append(said)
                case .ask(let after): asked.append(after)
                case .waits, .repeated: break
                }
            }
        }
        asked = heard.connected([tea: said]).map(\.after)
        while !asked.isEmpty { answer() }
        #expect(got == (0..<said).map { $0 + 1 })
    }
}
