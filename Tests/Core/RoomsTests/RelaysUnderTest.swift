import Basics
import FoundationEssentials

@testable import Rooms

/// A daemon's knowledge of the others' rooms, and the ales and messages that it received from them.
final class RelayUnderTest {
    let id = DaemonID()
    var state: RelayState
    var received: [UUID: Int] = [:]
    var lost: UInt64 = 0
    var dropped: UInt64 = 0
    /// Whether messages to this daemon are lost.
    var isAway = false

    init() { state = RelayState(id: id, packetSize: 200, grace: .seconds(15)) }

    func apply(_ effects: RelayState.Effects) {
        for ales in effects.ales { received[ales.room, default: 0] += Int(ales.count) }
        lost += effects.lost
    }

    func enter(_ room: UUID, _ connections: Int, people: Set<UUID> = []) {
        var news = RoomNews()
        news.members = [
            MembersOfRoom(
                room,
                RoomMembers(
                    connections: connections, anonymous: max(0, connections - people.count), people: people))
        ]
        state.take(news)
    }

    func publish(_ count: UInt32, in room: UUID) {
        var news = RoomNews()
        news.ales = [RoomNews.Ales(room, count)]
        state.take(news)
    }
}

/// Several connected daemons as values. The test decides which packets are lost.
final class RelaysUnderTest {
    let all: [RelayUnderTest]
    var now = MonotonicTime(nanoseconds: 1_000_000_000)

    init(_ count: Int) {
        all = (0..<count).map { _ in RelayUnderTest() }
        for daemon in all { daemon.state.busConnected() }
        settle()
    }

    subscript(index: Int) -> RelayUnderTest { all[index] }

    /// Runs until no daemon has anything to send.
    func settle() {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            for daemon in all {
                let batch = daemon.state.nextBatch()
                daemon.dropped += batch.dropped
                if !batch.packets.isEmpty { isQuiet = false }
                for packet in batch.packets { carry(packet, from: daemon) }
            }
        }
    }

    private func carry(_ packet: BusPacket, from sender: RelayUnderTest) {
        for daemon in all where !daemon.isAway {
            let isReceiver =
                switch packet.destination {
                case .everyDaemon: daemon !== sender
                case .daemon(let id): daemon.id == id
                case .room(_, let receivers): receivers.contains(daemon.id)
                }
            guard isReceiver, let effects = try? daemon.state.receive(packet.bytes, from: sender.id, at: now) else {
                continue
            }
            daemon.apply(effects)
        }
    }

    func beat() {
        now = now + .seconds(2)
        for daemon in all { daemon.apply(daemon.state.beat(at: now, isAnswered: true)) }
        settle()
    }
}
