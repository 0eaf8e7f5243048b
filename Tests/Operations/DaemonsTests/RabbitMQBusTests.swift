import AMQP
import Basics
import BusTestSupport
import Foundation
import Rooms
import TestSupport
import Testing

@testable import Daemons

/// RabbitMQ as the bus: the conformance tests of a bus, and RabbitMQ's own failures.
@Suite(.enabled(if: TestBroker.runs, Comment(rawValue: TestBroker.whySkipped)), .serialized)
struct RabbitMQBusTests {
    /// All tests share one broker, because starting it takes seconds.
    private static let broker = Task { try await TestBroker.start() }

    @Test("RabbitMQ passes the conformance tests of a bus", arguments: BusConformance.Guarantee.allCases)
    func keeps(_ guarantee: BusConformance.Guarantee) async throws {
        try await BusConformance(on: try RabbitMQMedium(try await Self.broker.value)).check(guarantee)
    }

    /// Runs the body with two connected daemons, and stops them at the end.
    private func withDaemons(
        queue: AMQPQueue = AMQPBusTopology.queue, _ body: (RabbitMQMedium, BusMember, BusMember) async throws -> Void
    ) async throws {
        let medium = try RabbitMQMedium(try await Self.broker.value, queue: queue)
        let (one, other) = (try await BusMember(medium), try await BusMember(medium))
        var failure: (any Error)?
        do {
            for member in [one, other] {
                await member.start()
                try await member.awaitConnected()
            }
            try await body(medium, one, other)
        } catch {
            failure = error
        }
        for member in [one, other] { await member.bus.stop() }
        await medium.end()
        if let failure {
            // Leaves the broker running for the next test.
            try? await medium.broker.start()
            try? await medium.broker.setMemoryAlarm(false)
            throw failure
        }
    }

    @Test("After a broker restart under load, packets arrive again within five seconds")
    func restart() async throws {
        try await withDaemons { medium, one, other in
            let broker = medium.broker
            let load = Load(from: one, to: other)
            let sending = Task { await load.run() }
            defer { sending.cancel() }
            try await other.events.next("a packet") { if case .received = $0 { true } else { false } }
            for isOrderly in [true, false] {
                if isOrderly { try await broker.stop() } else { await broker.kill() }
                try await one.awaitLost()
                try await broker.start()
                try await Recovery.expect(after: "the broker's restart") {
                    for member in [one, other] { try await member.awaitConnected() }
                    let before = other.packets(from: one).count
                    try await eventually("packets again") { other.packets(from: one).count > before }
                }
            }
            sending.cancel()
            let sent = await sending.value
            let received = try await other.packetsUntilNow(from: one).map(\.number)
            #expect(zip(received, received.dropFirst()).allSatisfy(<), "in order, none twice")
            #expect(received.count <= sent)
        }
    }

    @Test("While a broker is short of memory, sending is refused and receiving continues")
    func memoryAlarm() async throws {
        try await withDaemons { medium, one, other in
            let broker = medium.broker
            try await broker.setMemoryAlarm(true)
            let packet = [BusPacket(to: .everyDaemon, TestPacket(number: 1, size: 2_000).bytes)]
            var refusals = 0
            try await eventually("a refusal") {
                do {
                    try await one.bus.send(packet)
                } catch BusError.refused(let message) {
                    #expect(message.contains("accepts no messages"))
                    refusals += 1
                }
                return refusals == 3
            }
            try await broker.setMemoryAlarm(false)
            try await Recovery.expect(after: "the broker's alarm") {
                try await eventually("the broker takes packets again") {
                    (try? await one.bus.send(packet)) != nil
                }
                _ = try await other.packetsUntilNow(from: one)
            }
            let others = [one, other].flatMap { $0.events.all }.filter { if case .lost = $0 { true } else { false } }
            #expect(others.isEmpty, "nobody lost the connection")
        }
    }

    @Test("Daemons receive packets again after the exchange is deleted")
    func exchangeDeleted() async throws {
        try await withDaemons { medium, one, other in
            let name = AMQPBusTopology.exchange.name
            let exchange = "{resource,<<\"/\">>,exchange,<<\"\(name)\">>}"
            try await medium.broker.run("eval", "rabbit_exchange:delete(\(exchange), false, <<\"test\">>).")
            func packets(from sender: BusMember, to receiver: BusMember) async throws {
                let before = receiver.packets(from: sender).count
                try await eventually("a packet") {
                    try? await sender.bus.send([BusPacket(to: .everyDaemon, TestPacket(number: 1).bytes)])
                    return receiver.packets(from: sender).count > before
                }
            }
            try await packets(from: one, to: other)
            try await packets(from: other, to: one)
        }
    }

    @Test("The broker has two bindings for each daemon, however many rooms there are")
    func bindings() async throws {
        try await withDaemons { medium, one, other in
            func bindings() async throws -> Int {
                try await medium.broker.run("list_bindings", "source_name", "routing_key").split(separator: "\n")
                    .count { $0.hasPrefix(AMQPBusTopology.exchange.name) }
            }
            for number in 0..<20 {
                try await one.bus.send(
                    (0..<100).map { _ in
                        BusPacket(to: .room(UUID(), of: [other.id]), TestPacket(number: number).bytes)
                    })
            }
            #expect(try await other.packetsUntilNow(from: one).count == 2_000)
            #expect(try await bindings() == 4)
        }
    }

    @Test("A full queue loses only its oldest packets")
    func overflow() async throws {
        let queue = AMQPQueue("", isExclusive: true, isAutoDeleted: true, longest: 200, mostBytes: 1_000_000)
        try await withDaemons(queue: queue) { medium, one, _ in
            let broker = medium.broker
            // This bus handles its events slowly, and its connection's thread reads nothing meanwhile.
            let slow = try await medium.makeBus(DaemonID())
            let events = EventRecorder<BusEvent>(limit: 200_000)
            let gate = ClosedGate()
            await slow.start { event in
                events.append(event)
                if event != .connected { gate.pass() }
            }
            try await events.next("connected") { $0 == .connected }
            let memory = try await broker.memory()
            let (count, size) = (10_000, 10_000)
            for start in stride(from: 0, to: count, by: 100) {
                try await one.bus.send(
                    (start..<start + 100).map { BusPacket(to: .everyDaemon, TestPacket(number: $0, size: size).bytes) }
                )
            }
            #expect(try await broker.memory() - memory < 200_000_000, "100 MB were sent")
            gate.open()
            let last = BusEvent.received(from: one.id, TestPacket(number: count - 1, size: size).bytes)
            try await events.next("the last packet") { $0 == last }
            await slow.stop()
            let numbers = events.all.compactMap { event -> Int? in
                guard case .received(one.id, let bytes) = event else { return nil }
                return TestPacket(bytes)?.number
            }
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy(<), "in order, none twice")
            #expect(numbers.count < count, "some are lost")
        }
    }

    @Test("A wrong password is reported without being repeated")
    func refusedLogin() async throws {
        let port = try await Self.broker.value.port
        let url = try AMQPURL("amqp://guest:secret-word@127.0.0.1:\(port)")
        let bus = AMQPBus(DaemonID(), AMQPConfiguration(url: url, name: "test"))
        let events = EventRecorder<BusEvent>()
        await bus.start { events.append($0) }
        let event = try await events.next("lost")
        guard case .lost(let message) = event else { throw ClientFailure.violation("\(event)") }
        #expect(message.contains("ACCESS_REFUSED") && message.contains("guest@127.0.0.1"))
        #expect(!message.contains("secret-word"))
        await bus.stop()
    }
}

/// Blocks each caller until it is opened.
///
/// `@unchecked Sendable`: the state is accessed with the condition locked.
private final class ClosedGate: @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen = false

    func pass() {
        condition.withLock { while !isOpen { condition.wait() } }
    }

    func open() {
        condition.withLock { isOpen = true }
        condition.broadcast()
    }
}

/// Sends numbered packets continuously, both while the broker is connected and while it isn't.
private struct Load: Sendable {
    let sender: BusMember
    let receiver: BusMember

    init(from sender: BusMember, to receiver: BusMember) {
        (self.sender, self.receiver) = (sender, receiver)
    }

    /// Runs until its task is cancelled.
    ///
    /// - Returns: The number of packets handed over.
    func run() async -> Int {
        var number = 0
        while !Task.isCancelled {
            let packets = (0..<20).map { BusPacket(to: .everyDaemon, TestPacket(number: number + $0, size: 200).bytes) }
            number += packets.count
            if (try? await sender.bus.send(packets)) == nil { try? await Task.sleep(for: .milliseconds(5)) }
        }
        return number
    }
}
