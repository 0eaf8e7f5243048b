import FoundationEssentials
import Testing

@testable import Rooms

/// Joins, leaves, messages and closes on random loops with random delays between them: each member receives each other
/// sender's ales and messages once, in order, and never its own.
@Suite struct SenderProperties {
    /// A member of a room, and what it should have received according to a simple, independent model.
    private final class Receiver {
        enum Membership {
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
        let membership: Membership
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

        init(_ room: UUID, _ peer: RecordingPeer, _ membership: Membership, sender: Int) {
            self.room = room
            self.peer = peer
            self.membership = membership
            self.sender = sender
        }

        func receives(_ other: Receiver) -> Bool {
            membership.isMember && room == other.room && sender != other.sender
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
        var receivers: [Receiver] = []
        var gone: [Receiver] = []
        /// The sender of each message.
        var authors: [Int] = []
        var sockets = 0
        for _ in 0..<12 {
            /// The ales and messages sent in this round, by room. A new member can have received at most these.
            var sent: [UUID: Int] = [:]
            for _ in 0..<80 {
                switch random.next(below: 16) {
                case 0:
                    let (room, peer) = (rooms[random.next(below: 4)], RecordingPeer())
                    let connection = loops.home(of: room).enter(room, peer, policy: .match(capacity: .max))
                    sockets += 1
                    receivers.append(Receiver(room, peer, .socket(connection), sender: -sockets))
                case 1, 2:
                    let (room, peer, sender) = (rooms[random.next(below: 4)], RecordingPeer(), random.next(below: 6))
                    let member = senders[sender].enter(room, peer, policy: .match(capacity: .max)) { _ in
                        check(peer.events.isEmpty, "it is let in first")
                    }
                    receivers.append(Receiver(room, peer, .member(member), sender: sender))
                case 3 where !receivers.isEmpty:
                    let receiver = receivers.remove(at: random.next(below: receivers.count))
                    receiver.membership.leave()
                    receiver.eventsAtEnd = receiver.peer.events.count
                    gone.append(receiver)
                case 4...7 where !receivers.isEmpty:
                    let receiver = receivers[random.next(below: receivers.count)]
                    receiver.membership.cheer(CheerKind.allCases[random.next(below: 2)])
                    guard receiver.membership.isMember else { continue }
                    sent[receiver.room, default: 0] += 1
                    for other in receivers where other.receives(receiver) {
                        other.ales += 1
                        other.alesOfSenders[receiver.sender, default: 0] += 1
                    }
                case 8 where !receivers.isEmpty:
                    let receiver = receivers[random.next(below: receivers.count)]
                    guard receiver.membership.isMember else { continue }
                    authors.append(receiver.sender)
                    let message = Numbered(number: authors.count - 1)
                    switch receiver.membership {
                    case .member(let member): member.publish(message)
                    case .socket(let connection):
                        loops.home(of: receiver.room).publish(message, to: receiver.room, from: connection)
                    }
                    for other in receivers where other.receives(receiver) {
                        other.messages.append(message.number)
                        other.alesBefore[message.number] = other.alesOfSenders[receiver.sender]
                    }
                case 9 where random.next(below: 20) == 0:
                    // Messages on their way to a closing room are lost, so the test lets them arrive first.
                    loops.settle()
                    let room = rooms[random.next(below: 4)]
                    loops.home(of: room).close([room])
                    loops.settle()
                    for receiver in receivers where receiver.room == room {
                        #expect(receiver.peer.events.last == .closed)
                        receiver.eventsAtEnd = receiver.peer.events.count
                        gone.append(receiver)
                    }
                    receivers.removeAll { $0.room == room }
                    sent[room] = nil
                case 10...12:
                    loops.arrive(at: random.next(below: 3))
                default:
                    loops.endTurn(of: random.next(below: 3))
                }
            }
            loops.settle()
            for receiver in receivers {
                check(receiver, atMost: sent[receiver.room] ?? 0, authors)
                receiver.isOld = true
                receiver.ales = receiver.peer.ales
                receiver.messages = receiver.peer.messages
            }
            for receiver in gone {
                check(receiver.peer.events.count == receiver.eventsAtEnd, "who is gone hears nothing")
            }
            let occupied = Set(receivers.map(\.room)).count
            let counts = loops.shards.map(\.occupancy)
            #expect(counts.reduce(0) { $0 + $1.rooms } == occupied)
            #expect(counts.reduce(0) { $0 + $1.connections } == receivers.count)
        }
    }

    /// Checks a member when nothing is on its way.
    private func check(_ receiver: Receiver, atMost sent: Int, _ authors: [Int]) {
        let received = receiver.peer.messages
        if receiver.isOld {
            check(receiver.peer.ales == receiver.ales, "it received each ale once")
            check(Set(received) == Set(receiver.messages), "it received each message")
        } else {
            // A member may have received any number of the ales that were sent while it joined.
            let (ales, least) = (receiver.peer.ales, receiver.ales)
            check(least <= ales && ales <= sent, "it received each ale since it came")
            check(Set(received).isSuperset(of: receiver.messages), "it received each message since it came")
        }
        for (sender, messages) in Dictionary(grouping: received, by: { authors[$0] }) {
            check(sender != receiver.sender, "it didn't hear itself")
            check(zip(messages, messages.dropFirst()).allSatisfy { $0 < $1 }, "messages come in order, and once")
        }
        var ales = 0
        for event in receiver.peer.events {
            switch event {
            case .ales(let count), .cheers(let count, _): ales += count
            case .message(let number):
                check(ales >= receiver.alesBefore[number] ?? 0, "ales come before what follows them")
            case .presence, .closed: break
            }
        }
        check(receiver.membership.isMember, "it is in its room")
    }

    /// Like `#expect`, which would take longer than the rest of the test.
    private func check(_ holds: Bool, _ what: Comment) {
        if !holds { Issue.record(what) }
    }
}
