import Domain
import Foundation
import JourneyTestSupport
import Postgres
import TestSupport

/// One run: users send messages in one conversation at two daemons, which are killed. In the end the stored and
/// received messages are checked.
actor MessageTorture {
    /// The number of users that send messages. They take the ways of sending in turn.
    private static let senders = 6
    private static let timeout = Deadline.standard

    private var random: SeededRandom
    private let record = MessageRecord()
    private var daemonKills = 0
    private var databaseKills = 0

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    struct Outcome: Sendable {
        var violations: [String] = []
        var acknowledged = 0
        var unanswered = 0
        var stored = 0
        var connections = 0
        var daemonKills = 0
        var databaseKills = 0
        /// The time from full service, with everything sent, until every receiver had received everything.
        var settled = Duration.zero
        /// The end of the daemons' logs, if there is a violation.
        var output = ""
    }

    func run(messages: Int, kills: Int) async throws -> Outcome {
        let world = try await TortureWorld(.shared)
        try await world.start()
        guard let endpoint = await world.living.first?.endpoint else { throw ClientFailure.violation("no daemon") }
        try await endpoint.makeUsers(1...Self.senders)
        let conversation = try await endpoint.makeConversation(1, Array(2...Self.senders))
        let listening = receive(to: conversation, in: world)
        let sending = startSenders(messages, in: conversation, world)
        do {
            while daemonKills + databaseKills < kills {
                let wanted = messages * (daemonKills + databaseKills) / kills
                try await eventually("service after a kill", within: Self.timeout) { await record.settled >= wanted }
                try await kill(world)
            }
            try await eventually("all messages settled", within: Self.timeout) { await record.settled >= messages }
        } catch {
            await record.object("\(error)")
            sending.cancel()
        }
        await sending.value
        let outcome = try await settle(world, conversation)
        listening.cancel()
        await listening.value
        let statuses = try await world.stop()
        if statuses.contains(where: { $0 != .exited(0) }) {
            throw ClientFailure.violation("the daemons ended with \(statuses)")
        }
        return outcome
    }

    // MARK: Users

    private func startSenders(_ messages: Int, in conversation: UUID, _ world: TortureWorld) -> Task<Void, Never> {
        let seeds = (0..<Self.senders).map { _ in random.next() }
        let record = record
        return Task {
            await withTaskGroup(of: Void.self) { group in
                for (number, seed) in seeds.enumerated() {
                    let sender = MessageSender(
                        user: number + 1, conversation: conversation, world: world, record: record,
                        transport: MessageSender.Transport.allCases[number % MessageSender.Transport.allCases.count])
                    let share = messages / seeds.count + (number < messages % seeds.count ? 1 : 0)
                    group.addTask { await sender.send(share, SeededRandom(seed: seed)) }
                }
            }
        }
    }

    private func receive(to conversation: UUID, in world: TortureWorld) -> Task<Void, Never> {
        let seeds = MessageReceiver.Transport.allCases.map { _ in random.next() }
        let record = record
        return Task {
            await withTaskGroup(of: Void.self) { group in
                for (transport, seed) in zip(MessageReceiver.Transport.allCases, seeds) {
                    let receiver = MessageReceiver(
                        transport: transport, conversation: conversation, world: world, record: record)
                    group.addTask { await receiver.receive(SeededRandom(seed: seed)) }
                }
            }
        }
    }

    // MARK: Killing

    /// Kills a daemon, or sometimes the database, at a random moment, and starts it again.
    private func kill(_ world: TortureWorld) async throws {
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...30, using: &random)))
        if Int.random(in: 0..<8, using: &random) == 0 {
            if try await world.killDatabase() { databaseKills += 1 }
            return try await world.startDatabase()
        }
        let victim = Int.random(in: 0..<(await world.daemonCount), using: &random)
        daemonKills += 1
        try await world.killDaemon(victim)
        try await world.startDaemon(victim)
        try await world.waitForDaemon(victim)
    }

    // MARK: Settling

    /// Waits until every receiver has received every message. By now everything is up again, and every message is sent.
    private func settle(_ world: TortureWorld, _ conversation: UUID) async throws -> Outcome {
        try await world.waitUntilReady()
        let rows = try await world.sql(
            "SELECT number, id, content FROM conversations.message WHERE conversation_id = '\(conversation)' ORDER BY number"
        )
        let stored = try rows.map {
            MessageRecord.Message(
                offset: try $0.integer("number"), id: try $0.uuid("id"), content: try $0.string("content"))
        }
        let began = ContinuousClock.now
        var outcome = Outcome()
        while true {
            outcome.violations = await record.violations(in: stored)
            outcome.settled = ContinuousClock.now - began
            if outcome.violations.isEmpty || outcome.settled > Self.timeout { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        outcome.acknowledged = await record.acknowledged.count
        outcome.unanswered = await record.unanswered
        outcome.stored = stored.count
        outcome.connections = await record.connections
        outcome.daemonKills = daemonKills
        outcome.databaseKills = databaseKills
        if !outcome.violations.isEmpty { outcome.output = await world.output }
        return outcome
    }
}
