import Foundation
import TestSupport
import Testing

@testable import LetsSwitchClient

@Suite struct HeardOffsetsTests {
    private let tea = UUID()

    @Test("What comes next is heard, what came before isn't, and a jump asks for what lies between, once")
    func steps() {
        var heard = HeardOffsets([:])
        #expect(heard.connected([tea: 4]).isEmpty)
        #expect(heard.take(tea, 4) == .repeated)
        #expect(heard.take(tea, 5) == .hear)
        #expect(heard.take(tea, 8) == .ask(after: 5))
        #expect(heard.take(tea, 9) == .waits)
        // The page was read before 9 was said.
        let first = heard.take(page: [6, 7, 8], of: tea, lastOffset: 8)
        #expect(first.new == [6, 7, 8])
        #expect(first.after == 8)
        let second = heard.take(page: [9], of: tea, lastOffset: 9)
        #expect(second.new == [9])
        #expect(second.after == nil)
        #expect(heard.take(tea, 10) == .hear)
    }

    @Test("A conversation that is heard of for the first time begins with what is said")
    func unknown() {
        var heard = HeardOffsets([:])
        #expect(heard.take(tea, 7) == .hear)
        #expect(heard.take(tea, 8) == .hear)
    }

    @Test("A conversation that was made during a cut is heard from its beginning")
    func made() {
        var heard = HeardOffsets([:])
        #expect(heard.connected([tea: 4]).isEmpty)
        let new = UUID()
        let missing = heard.connected([tea: 4, new: 3])
        #expect(missing.map(\.conversation) == [new] && missing.map(\.after) == [0])
        // Unless it may be an old one, of which the first handshake couldn't tell.
        var many = HeardOffsets([:])
        let offsets = Dictionary(uniqueKeysWithValues: (0..<HeardOffsets.namedInHandshake).map { _ in (UUID(), 1) })
        #expect(many.connected(offsets).isEmpty)
        #expect(many.connected([new: 3]).isEmpty)
    }

    @Test("A page that comes twice skips nothing")
    func twice() {
        var heard = HeardOffsets([tea: 2])
        #expect(heard.connected([tea: 9]).map(\.after) == [2])
        #expect(heard.take(page: [3, 4], of: tea, lastOffset: 9).after == 4)
        let again = heard.take(page: [3, 4], of: tea, lastOffset: 9)
        #expect(again.new.isEmpty && again.after == nil)
        #expect(heard.connected([tea: 9]).map(\.after) == [4])
    }

    @Test("What was purged is not asked for again")
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

    @Test("What the server was told in connecting it tells by itself; the rest is asked for")
    func named() {
        var heard = HeardOffsets([tea: 2])
        #expect(heard.connecting().map(\.after) == [2])
        let other = UUID()
        #expect(heard.connected([tea: 9, other: 4]).isEmpty)
        #expect(heard.take(tea, 3) == .hear)
        #expect(heard.take(other, 5) == .hear)
        // Who was heard last is named first; and what was made during the cut nobody could name.
        let named = heard.connecting()
        #expect(named.map(\.conversation) == [other, tea] && named.map(\.after) == [5, 3])
        let made = UUID()
        #expect(heard.connected([tea: 9, other: 9, made: 2]).map(\.conversation) == [made])
        // One that was purged in between is still asked for.
        #expect(heard.take(tea, 6) == .ask(after: 3))
    }

    @Test("A request names those that were heard last, and not more than fit")
    func manyNamed() {
        let many = (0..<HeardOffsets.namedInRequest + 20).map { _ in UUID() }
        var heard = HeardOffsets(Dictionary(uniqueKeysWithValues: many.map { ($0, 1) }))
        for conversation in many.dropLast(20) { #expect(heard.take(conversation, 2) == .hear) }
        #expect(Set(heard.connecting().map(\.conversation)) == Set(many.dropLast(20)))
        let missing = heard.connected(Dictionary(uniqueKeysWithValues: many.map { ($0, 3) }))
        #expect(Set(missing.map(\.conversation)) == Set(many.suffix(20)))
    }

    @Test("What is refused is asked for by the next message")
    func refused() {
        var heard = HeardOffsets([tea: 1])
        #expect(heard.take(tea, 3) == .ask(after: 1))
        heard.refused(tea)
        #expect(heard.take(tea, 4) == .ask(after: 1))
    }

    @Test("Whatever is cut, each message is heard once, in order", arguments: UInt64(0)..<50)
    func property(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var heard = HeardOffsets([tea: 0])
        var (said, got) = (0, [Int]())
        /// Pages that are on their way.
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
            case 0:  // cut, and connected anew: nothing that was asked for is answered
                asked = heard.connected([tea: said]).map(\.after)
            case 1: said += 1  // said while nobody hears
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
