import FoundationEssentials
import Testing

@testable import Rooms

/// Joins, leaves, messages and closes on random loops with random delays between them: each member receives each other
/// sender's ales and messages once, in order, and never its own.
@Suite struct SenderProperties {
    /// A member of a room, and what it should have received according to a simple, independent model.
    private final class Hearer {
        enum Place {
            case socket(Connection)
            case member(Member)

            var isMember: Bool {
                switch self {
                case .socket(let connection): connection.isMember
                case .member(let member): member.isMember
                }
            }

            func cheer(_ kind: CheerKind) {
                switch self {
                case .socket(let connection): connection.cheer(kind)
                case .member(let member): member.cheer(kind)
                }
            }

            func leave() {
                switch self {
                case .socket(let connection): connection.leave()
                case .member(let member): member.leave()
                }
            }
        }

        let room: UUID
        let peer: RecordingPeer
        let place: Place
        /// Sockets of `/socket` have numbers below 0.
        let sender: Int
        /// Whether it was in the room before this round.
        var isOld = false
        /// The ales that it must have received since it joined, or since this round began.
        var ales = 0
        var messages: [Int] = []
        /// The number of ales that the same sender had sent before each message.
        var alesBefore: [Int: Int] = [:]
        var alesOfSenders: [Int: Int] = [:]
        var eventsAtEnd: Int?

        init(_ room: UUID, _ peer: RecordingPeer, _ place: Place, sender: Int) {
            self.room = room
            self.peer = peer
            self.place = place
            self.sender = sender
        }

        func hears(_ other: Hearer) -> Bool {
            place.isMember && room == other.room && sender != other.sender
        }
    }

    private let loops = LoopsUnderTest(3)
    private let rooms: [UUID]

    init() {
        let loops = loops
        rooms = (0..<4).map { loops.room(on: $0 % 3) }
    }

    @Test("Random events have the results of a simple model", arguments: 0..<48)
    func reckoning(_ seed: UInt64) {
        var random = SplitMix(state: seed)
        let senders = (0..<6).map { loops.shards[$0 % 3].makeSender() }
        var hearers: [Hearer] = []
        var gone: [Hearer] = []
        /// The sender of each message.
        var authors: [Int] = []
        var sockets = 0
        for _ in 0..<12 {
            /// The ales and messages sent in this round, by room. A new member can have received at most these.
            var said: [UUID: Int] = [:]
            for _ in 0..<80 {
                switch random.next(below: 16) {
                case 0:
                    let (room, peer) = (rooms[random.next(below: 4)], RecordingPeer())
                    let connection = loops.home(of: room).enter(room, peer, policy: .match(capacity: .max))
                    sockets += 1
                    hearers.append(Hearer(room, peer, .socket(connection), sender: -sockets))
                case 1, 2:
                    let (room, peer, sender) = (rooms[random.next(below: 4)], RecordingPeer(), random.next(below: 6))
                    let member = senders[sender].enter(room, peer, policy: .match(capacity: .max)) { _ in
                        check(peer.events.isEmpty, "it is let in first")
                    }
                    hearers.append(Hearer(room, peer, .member(member), sender: sender))
                case 3 where !hearers.isEmpty:
                    let hearer = hearers.remove(at: random.next(below: hearers.count))
                    hearer.place.leave()
                    hearer.eventsAtEnd = hearer.peer.events.count
                    gone.append(hearer)
                case 4...7 where !hearers.isEmpty:
                    let hearer = hearers[random.next(below: hearers.count)]
                    hearer.place.cheer(CheerKind.allCases[random.next(below: 2)])
                    guard hearer.place.isMember else { continue }
                    said[hearer.room, default: 0] += 1
                    for other in hearers where other.hears(hearer) {
                        other.ales += 1
                        other.alesOfSenders[hearer.sender, default: 0] += 1
                    }
                case 8 where !hearers.isEmpty:
                    let hearer = hearers[random.next(below: hearers.count)]
                    guard hearer.place.isMember else { continue }
                    authors.append(hearer.sender)
                    let message = Numbered(number: authors.count - 1)
                    switch hearer.place {
                    case .member(let member): member.publish(message)
                    case .socket(let connection):
                        loops.home(of: hearer.room).publish(message, to: hearer.room, from: connection)
                    }
                    for other in hearers where other.hears(hearer) {
                        other.messages.append(message.number)
                        other.alesBefore[message.number] = other.alesOfSenders[hearer.sender]
                    }
                case 9 where random.next(below: 20) == 0:
                    // Messages on their way to a closing room are lost, so the test lets them arrive first.
                    loops.settle()
                    let room = rooms[random.next(below: 4)]
                    loops.home(of: room).close([room])
                    loops.settle()
                    for hearer in hearers where hearer.room == room {
                        #expect(hearer.peer.events.last == .closed)
                        hearer.eventsAtEnd = hearer.peer.events.count
                        gone.append(hearer)
                    }
                    hearers.removeAll { $0.room == room }
                    said[room] = nil
                case 10...12:
                    loops.arrive(at: random.next(below: 3))
                default:
                    loops.endTurn(of: random.next(below: 3))
                }
            }
            loops.settle()
            for hearer in hearers {
                check(hearer, atMost: said[hearer.room] ?? 0, authors)
                hearer.isOld = true
                hearer.ales = hearer.peer.ales
                hearer.messages = hearer.peer.messages
            }
            for hearer in gone {
                check(hearer.peer.events.count == hearer.eventsAtEnd, "who is gone hears nothing")
            }
            let occupied = Set(hearers.map(\.room)).count
            let counts = loops.shards.map(\.occupancy)
            #expect(counts.reduce(0) { $0 + $1.rooms } == occupied)
            #expect(counts.reduce(0) { $0 + $1.connections } == hearers.count)
        }
    }

    /// Checks a member when nothing is on its way.
    private func check(_ hearer: Hearer, atMost said: Int, _ authors: [Int]) {
        let heard = hearer.peer.messages
        if hearer.isOld {
            check(hearer.peer.ales == hearer.ales, "it heard each ale once")
            check(Set(heard) == Set(hearer.messages), "it heard each message")
        } else {
            // A member may have received any number of the ales that were sent while it joined.
            let (ales, least) = (hearer.peer.ales, hearer.ales)
            check(least <= ales && ales <= said, "it heard each ale since it came")
            check(Set(heard).isSuperset(of: hearer.messages), "it heard each message since it came")
        }
        for (sender, messages) in Dictionary(grouping: heard, by: { authors[$0] }) {
            check(sender != hearer.sender, "it didn't hear itself")
            check(zip(messages, messages.dropFirst()).allSatisfy { $0 < $1 }, "messages come in order, and once")
        }
        var ales = 0
        for event in hearer.peer.events {
            switch event {
            case .ales(let count), .cheers(let count, _): ales += count
            case .message(let number):
                check(ales >= hearer.alesBefore[number] ?? 0, "ales come before what follows them")
            case .presence, .closed: break
            }
        }
        check(hearer.place.isMember, "it is in its room")
    }

    /// Like `#expect`, which would take longer than the rest of the test.
    private func check(_ holds: Bool, _ what: Comment) {
        if !holds { Issue.record(what) }
    }
}
