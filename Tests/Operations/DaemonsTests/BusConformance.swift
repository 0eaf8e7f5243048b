import Basics
import FoundationEssentials
import Rooms
import TestSupport
import Testing

/// The promises of every ``Bus``, checked with several of them on one medium.
///
/// A suite of a bus is parametrised by ``Promise``:
/// ```
/// @Test(arguments: BusConformance.Promise.allCases)
/// func keeps(_ promise: BusConformance.Promise) async throws {
///     try await BusConformance(on: MyMedium()).check(promise)
/// }
/// ```
struct BusConformance {
    enum Guarantee: String, CaseIterable, Sendable {
        case orderOfEachSender
        case everyDaemonIsAllButTheSender
        case aDaemonReachesItself
        case roomsReachTheirDaemons
        case manyRooms
        case bigPacketsArriveWhole
        case connectsAgain
        case unavailabilityIsReported
        case noEventAfterStop
        case thousandsFlow
    }

    let medium: any BusMedium

    init(on medium: any BusMedium) {
        self.medium = medium
    }

    /// Checks a promise once, and ends the medium.
    func check(_ guarantee: Guarantee) async throws {
        do {
            switch guarantee {
            case .orderOfEachSender: try await withBuses(3, orderOfEachSender)
            case .everyDaemonIsAllButTheSender: try await withBuses(3, everyDaemonIsAllButTheSender)
            case .aDaemonReachesItself: try await withBuses(2, aDaemonReachesItself)
            case .roomsReachTheirDaemons: try await withBuses(4, roomsReachTheirDaemons)
            case .manyRooms: try await withBuses(2, manyRooms)
            case .bigPacketsArriveWhole: try await withBuses(2, bigPacketsArriveWhole)
            case .connectsAgain: try await withBuses(2, connectsAgain)
            case .unavailabilityIsReported: try await unavailabilityIsReported()
            case .noEventAfterStop: try await withBuses(2, noEventAfterStop)
            case .thousandsFlow: try await withBuses(3, thousandsFlow)
            }
        } catch {
            await medium.end()
            throw error
        }
        await medium.end()
    }

    /// Runs the body with connected daemons, and stops all of them at the end.
    private func withBuses(_ count: Int, _ body: ([BusMember]) async throws -> Void) async throws {
        var members: [BusMember] = []
        do {
            for _ in 0..<count {
                let member = try await BusMember(medium)
                members.append(member)
                await member.start()
            }
            for member in members { try await member.awaitConnected() }
            try await body(members)
        } catch {
            for member in members { await member.bus.stop() }
            throw error
        }
        for member in members { await member.bus.stop() }
    }
}

// MARK: - Who gets what

extension BusConformance {
    private func orderOfEachSender(_ members: [BusMember]) async throws {
        let (receiver, room) = (members[2], UUID())
        let destinations: [BusPacket.Destination] = [
            .everyDaemon, .daemon(receiver.id), .room(room, of: [receiver.id]),
        ]
        let sent = (0..<600).map { TestPacket(number: $0, size: $0 % 7 == 0 ? 3_000 : 20) }
        try await withThrowingTaskGroup { group in
            for sender in members.prefix(2) {
                group.addTask {
                    var rest = sent[...]
                    // Sends calls of one packet and of many.
                    for size in Array(repeating: [1, 2, 57], count: 10).joined() {
                        try await sender.bus.send(
                            rest.prefix(size).map { BusPacket(to: destinations[$0.number % 3], $0.bytes) })
                        rest = rest.dropFirst(size)
                    }
                }
            }
            try await group.waitForAll()
        }
        for sender in members.prefix(2) {
            let received = try await receiver.packetsUntilNow(from: sender)
            #expect(received == sent, "\(received.map(\.number)) of \(sent.count)")
        }
    }

    private func everyDaemonIsAllButTheSender(_ members: [BusMember]) async throws {
        let sent = TestPacket(number: 1)
        try await members[0].bus.send([BusPacket(to: .everyDaemon, sent.bytes)])
        for member in members {
            let received = try await member.packetsUntilNow(from: members[0])
            #expect(received == (member.id == members[0].id ? [] : [sent]))
        }
        #expect(members[0].packets(from: members[1]).isEmpty)
    }

    private func aDaemonReachesItself(_ members: [BusMember]) async throws {
        let sent = (0..<3).map { TestPacket(number: $0) }
        try await members[0].bus.send(sent.map { BusPacket(to: .daemon(members[0].id), $0.bytes) })
        #expect(try await members[0].packetsUntilNow(from: members[0]) == sent)
        #expect(try await members[1].packetsUntilNow(from: members[0]).isEmpty)
    }

    private func roomsReachTheirDaemons(_ members: [BusMember]) async throws {
        let sent = (0..<3).map { TestPacket(number: $0) }
        // Sends to two others, to one other, and to one other and itself.
        let lists = [[1, 2], [1], [0, 2]].map { $0.map { members[$0].id } }
        try await members[0].bus.send(
            zip(sent, lists).map { BusPacket(to: .room(UUID(), of: $1), $0.bytes) }
                + [BusPacket(to: .room(UUID(), of: []), TestPacket(number: 3).bytes)])
        for (member, numbers) in zip(members, [[], [0, 1], [0, 2], []]) {
            #expect(try await member.packetsUntilNow(from: members[0]).map(\.number) == numbers)
        }
    }

    private func manyRooms(_ members: [BusMember]) async throws {
        let rooms = (0..<2_000).map { _ in UUID() }
        func send(in round: Int) async throws {
            for start in stride(from: 0, to: rooms.count, by: 100) {
                try await members[0].bus.send(
                    (start..<start + 100).map { number in
                        BusPacket(
                            to: .room(rooms[number], of: [members[1].id]),
                            TestPacket(number: round * rooms.count + number).bytes)
                    })
            }
        }
        try await send(in: 0)
        #expect(try await members[1].packetsUntilNow(from: members[0]).map(\.number) == Array(0..<rooms.count))
        // When the medium is back, calls aren't delayed by the number of rooms.
        try await medium.cut()
        for member in members { try await member.awaitLost() }
        try await medium.heal()
        for member in members { try await member.awaitConnected() }
        try await send(in: 1)
        #expect(try await members[1].packetsUntilNow(from: members[0]).map(\.number) == Array(0..<2 * rooms.count))
    }

    private func bigPacketsArriveWhole(_ members: [BusMember]) async throws {
        let sizes = [9, 100_000, 10, 7_500, 8_000, 8_192, 20_000, 131_072, 9, 262_144, 11]
        let sent = sizes.enumerated().map { TestPacket(number: $0.offset, size: $0.element) }
        try await members[0].bus.send(sent.map { BusPacket(to: .everyDaemon, $0.bytes) })
        for packet in sent { try await members[0].bus.send([BusPacket(to: .daemon(members[1].id), packet.bytes)]) }
        try await members[0].bus.send([BusPacket(to: .daemon(members[1].id), [])])
        let received = try await members[1].packetsUntilNow(from: members[0])
        #expect(received.map(\.size) == sizes + sizes)
        #expect(received == sent + sent)
        #expect(members[1].events.all.contains(.received(from: members[0].id, [])), "an empty one")
    }
}

// MARK: - Coming and going

extension BusConformance {
    private func connectsAgain(_ members: [BusMember]) async throws {
        let room = UUID()
        try await members[0].bus.send([BusPacket(to: .everyDaemon, TestPacket(number: 1).bytes)])
        _ = try await members[1].packetsUntilNow(from: members[0])
        for round in 2..<4 {
            try await medium.cut()
            for member in members { try await member.awaitLost() }
            try await medium.heal()
            for member in members { try await member.awaitConnected() }
            try await members[0].bus.send([
                BusPacket(to: .room(room, of: [members[1].id]), TestPacket(number: round * 2 - 2).bytes),
                BusPacket(to: .everyDaemon, TestPacket(number: round * 2 - 1).bytes),
            ])
            let received = try await members[1].packetsUntilNow(from: members[0])
            #expect(received.map(\.number) == Array(1..<round * 2))
        }
    }

    private func unavailabilityIsReported() async throws {
        let member = try await BusMember(medium)
        let packet = [BusPacket(to: .everyDaemon, TestPacket(number: 1).bytes)]
        await expectLoss(of: packet, by: member, "before it is started")
        try await withStarted(member) {
            try await member.awaitConnected()
            try await medium.cut()
            try await member.awaitLost()
            await expectLoss(of: packet, by: member, "while the medium is away")
            try await medium.heal()
            try await member.awaitConnected()
            try await member.bus.send(packet)
            // A bus also stops while it tries to connect.
            try await medium.cut()
            try await member.awaitLost()
            let stopping = Task { await member.bus.stop() }
            #expect(await stopping.ends(within: Deadline.standard), "stopping while the medium is unavailable")
        }
        await expectLoss(of: packet, by: member, "after it is stopped")
    }

    private func expectLoss(of packets: [BusPacket], by member: BusMember, _ when: Comment) async {
        // The medium is unavailable until this has ended.
        let sending = Task { _ = await #expect(throws: BusError.self, when) { try await member.bus.send(packets) } }
        #expect(await sending.ends(within: Deadline.standard), when)
    }

    private func withStarted(_ member: BusMember, _ body: () async throws -> Void) async throws {
        await member.start()
        do {
            try await body()
        } catch {
            await member.bus.stop()
            throw error
        }
        await member.bus.stop()
    }

    private func noEventAfterStop(_ members: [BusMember]) async throws {
        let calls = EventRecorder<Int>()
        let sending = Task {
            var number = 0
            while !Task.isCancelled {
                let packets = (0..<50).map { BusPacket(to: .everyDaemon, TestPacket(number: number + $0).bytes) }
                number += packets.count
                // The receiving bus stops meanwhile.
                try? await members[0].bus.send(packets)
                calls.append(number)
            }
        }
        try await members[1].events.next("the first packet") { if case .received = $0 { true } else { false } }
        await members[1].bus.stop()
        let count = members[1].events.all.count
        // After 500 more packets an event would have arrived.
        let sent = calls.all.last ?? 0
        try await calls.next("ten more calls") { $0 >= sent + 500 }
        sending.cancel()
        await sending.value
        #expect(members[1].events.all.count == count)
        _ = try await members[0].packetsUntilNow(from: members[0])
        #expect(members[1].events.all.count == count)
        // Stopping a bus again does nothing.
        await members[1].bus.stop()
    }
}

// MARK: - Load

extension BusConformance {
    private func thousandsFlow(_ members: [BusMember]) async throws {
        let (count, size) = (20_000, 500)
        let room = UUID()
        for start in stride(from: 0, to: count, by: 100) {
            let packets = (start..<start + 100).map { number in
                BusPacket(
                    to: number % 2 == 0 ? .everyDaemon : .room(room, of: members.dropFirst().map(\.id)),
                    TestPacket(number: number, size: size).bytes)
            }
            try await members[0].bus.send(packets)
        }
        for member in members.dropFirst() {
            let received = try await member.packetsUntilNow(from: members[0])
            #expect(received.map(\.number) == Array(0..<count), "\(received.count) of \(count)")
        }
    }
}
