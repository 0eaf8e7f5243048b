import Basics
import FoundationEssentials
import Rooms
import TestSupport
import Testing

@testable import Matches

@Suite struct RollCallTests {
    private let room = UUID()
    private let ada = UUID()

    private func event(_ kind: PresenceEvent.Kind, _ identity: UUID?, rollCall: UInt32) -> PresenceEvent {
        PresenceEvent(kind, room: room, claimedIdentity: identity, peers: 1, at: .now(), rollCall: rollCall)
    }

    private static func present(_ call: RollCall) -> [Attendee: Int] {
        Dictionary(uniqueKeysWithValues: call.rooms.joined().map { ($0.attendee, $0.connections) })
    }

    @Test("Events before an answer aren't counted again, and later ones are")
    func counting() {
        var call = RollCall(number: 2)
        call.take(event(.joined, nil, rollCall: 1))
        call.take(event(.left, nil, rollCall: 2))
        call.take(event(.joined, ada, rollCall: 2))
        call.add([Attendee(room: room, claimedIdentity: nil): 2])
        call.take(event(.joined, nil, rollCall: 1))
        call.take(event(.joined, ada, rollCall: 3))
        #expect(
            Self.present(call) == [
                Attendee(room: room, claimedIdentity: nil): 1, Attendee(room: room, claimedIdentity: ada): 2,
            ])
    }

    @Test("A roll call is complete when its mark is stored")
    func completion() {
        var call = RollCall(number: 2)
        call.complete(1)
        #expect(!call.isComplete)
        call.complete(2)
        #expect(call.isComplete)
    }

    /// Rooms with people on several loops, which answer a roll call one after the other.
    private struct Crowd {
        let rooms = [UUID(), UUID()]
        let people: [UUID?] = [UUID(), UUID(), nil]
        var present: [[Attendee: Int]]
        var calls: [UInt32]

        init(loops: Int) {
            present = Array(repeating: [:], count: loops)
            calls = Array(repeating: 0, count: loops)
        }

        /// A user joins a loop or leaves it.
        mutating func step(on loop: Int, _ random: inout SeededRandom) -> PresenceEvent {
            var kind = PresenceEvent.Kind.joined
            var attendee = Attendee(
                room: rooms[.random(in: 0..<2, using: &random)],
                claimedIdentity: people[.random(in: 0..<3, using: &random)])
            let candidates = present[loop].keys.sorted { "\($0)" < "\($1)" }
            if Bool.random(using: &random), let one = candidates.randomElement(using: &random) {
                (kind, attendee) = (.left, one)
            }
            Self.count(kind, attendee, in: &present[loop])
            return PresenceEvent(
                kind, room: attendee.room, claimedIdentity: attendee.claimedIdentity, peers: 1, at: .now(),
                rollCall: calls[loop])
        }

        static func count(_ kind: PresenceEvent.Kind, _ attendee: Attendee, in present: inout [Attendee: Int]) {
            let count = present[attendee, default: 0] + (kind == .joined ? 1 : -1)
            present[attendee] = count == 0 ? nil : count
        }
    }

    @Test("The result of a roll call matches the stored attendance", arguments: 0..<200)
    func property(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var crowd = Crowd(loops: 3)
        // The loops' reports in one order; `nil` is the mark.
        var stream: [PresenceEvent?] = []
        var answers: [Attendee: Int] = [:]
        var call = RollCall(number: 1)
        var written = 0
        var truth: [Attendee: Int] = [:]
        func write(upTo end: Int) {
            for entry in stream[written..<end] {
                guard let entry else {
                    call.complete(1)
                    continue
                }
                call.take(entry)
                Crowd.count(
                    entry.kind, Attendee(room: entry.room, claimedIdentity: entry.claimedIdentity), in: &truth)
            }
            written = end
            if call.isComplete { #expect(Self.present(call) == truth) }
        }
        func comeAndGo() {
            for _ in 0..<Int.random(in: 0..<20, using: &random) {
                stream.append(crowd.step(on: .random(in: 0..<3, using: &random), &random))
            }
        }
        comeAndGo()
        for loop in [0, 1, 2].shuffled(using: &random) {
            comeAndGo()
            write(upTo: .random(in: written...stream.count, using: &random))
            answers.merge(crowd.present[loop], uniquingKeysWith: +)
            crowd.calls[loop] = 1
            comeAndGo()
        }
        write(upTo: .random(in: written...stream.count, using: &random))
        call.add(answers)
        stream.append(nil)
        for _ in 0..<5 {
            comeAndGo()
            write(upTo: .random(in: written...stream.count, using: &random))
        }
        write(upTo: stream.count)
        #expect(call.isComplete)
    }
}
