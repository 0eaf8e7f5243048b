import Foundation
import JourneyTestSupport
import TestSupport

/// One run: devices send requests while daemons and the database are killed. In the end the stored data is checked.
actor TortureRun {
    private static let deviceCount = 12
    /// The time until every due reminder is delivered, after everything is up again.
    static let timeout = Deadline.standard
    /// The time for the first answer after a kill.
    private static let servicePatience = Deadline.standard

    private let kind: TortureWorld.Kind
    private var random: SeededRandom
    private let record = TortureRecord()
    private var minute = 0
    private var daemonKills = 0
    private var databaseKills = 0
    private var kills: [Kill] = []

    init(_ kind: TortureWorld.Kind, seed: UInt64) {
        self.kind = kind
        random = SeededRandom(seed: seed)
    }

    struct Outcome: Sendable {
        var violations: [String] = []
        var tally = TortureRecord.Tally()
        var daemonKills = 0
        var databaseKills = 0
        var reminders = 0
        var matches = 0
        /// The number of reminders that arrived again with the same id.
        var repeats = 0
        /// The number of ales sent in rooms, and the number of these that were counted as lost.
        var ales = 0
        var lostAles = 0
        /// The time from full service until there was no violation.
        var settled = Duration.zero
        /// The end of the daemons' logs, if there is a violation.
        var output = ""
    }

    func run(kills: Int) async throws -> Outcome {
        let world = try await TortureWorld(kind)
        do {
            try await world.start()
            var outcome = try await run(kills: kills, in: world)
            let statuses = try await world.stop()
            if statuses.contains(where: { $0 != .exited(0) }) {
                outcome.violations.append("the daemons ended with \(statuses)")
                outcome.output = await world.output
            }
            return outcome
        } catch {
            let output = await world.output
            // Stops what is still running, and throws the first error.
            _ = try? await world.stop()
            throw ClientFailure.violation("\(error)\n\(output)")
        }
    }

    private func run(kills: Int, in world: TortureWorld) async throws -> Outcome {
        let clock = try await TortureClock.install(in: world)
        let cheering = kind == .fleet ? TortureCrowd(world) : nil
        do {
            try await cheering?.begin(seed: random.next())
        } catch {
            await cheering?.end()
            throw error
        }
        let listening = crowd(world, clock) { device, random in await device.listen(random) }
        let promising = crowd(world, clock) { [self] device, random in
            await device.promise(random) { await self.minute }
        }
        do {
            while daemonKills + databaseKills < kills {
                try await kill(world, clock)
                for violation in try await cheering?.calm() ?? [] { await record.object(violation) }
            }
        } catch {
            await record.object("\(error)")
        }
        promising.cancel()
        await promising.value
        await cheering?.end()
        var outcome: Outcome
        do {
            outcome = try await settle(world, clock)
        } catch {
            listening.cancel()
            await listening.value
            throw error
        }
        listening.cancel()
        await listening.value
        outcome.ales = await cheering?.sent ?? 0
        outcome.lostAles = await cheering?.lost ?? 0
        return outcome
    }

    /// Runs the same work on all devices.
    private func crowd(
        _ world: TortureWorld, _ clock: TortureClock,
        _ work: @escaping @Sendable (TortureDevice, SeededRandom) async -> Void
    ) -> Task<Void, Never> {
        let seeds = (0..<Self.deviceCount).map { _ in random.next() }
        let record = record
        return Task {
            await withTaskGroup(of: Void.self) { group in
                for (number, seed) in seeds.enumerated() {
                    let device = TortureDevice(name: "device-\(number)", world: world, clock: clock, record: record)
                    group.addTask { await work(device, SeededRandom(seed: seed)) }
                }
            }
        }
    }

    // MARK: Killing

    private enum Kill: CaseIterable { case daemon, database, both }

    /// Returns the next kill at random. Of each three, at least one hits a daemon and one the database.
    private func nextKill() -> Kill {
        if kills.isEmpty {
            kills = [.daemon, .database, Kill.allCases.randomElement(using: &random) ?? .both]
            kills.shuffle(using: &random)
        }
        return kills.removeLast()
    }

    /// Waits for a random amount of work, kills something at a random moment, and starts it again.
    private func kill(_ world: TortureWorld, _ clock: TortureClock) async throws {
        try await waitForAnswers(Int.random(in: 0...40, using: &random))
        if Int.random(in: 0..<4, using: &random) > 0 {
            minute += 1
            try await clock.advance(to: minute, in: world)
        }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...40, using: &random)))
        let kill = nextKill()
        let victim = Int.random(in: 0..<(await world.daemonCount), using: &random)
        if kill != .database {
            daemonKills += 1
            try await world.killDaemon(victim)
        }
        if kill != .daemon {
            await record.databaseDies()
            if try await world.killDatabase() {
                databaseKills += 1
                await record.databaseDied()
            }
            try await world.startDatabase()
        }
        guard kill != .database else { return }
        try await world.startDaemon(victim)
        // Sometimes the daemon is killed again while it starts.
        if Int.random(in: 0..<4, using: &random) == 0 {
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...200, using: &random)))
            daemonKills += 1
            try await world.killDaemon(victim)
            try await world.startDaemon(victim)
        }
        try await world.waitForDaemon(victim)
    }

    /// Waits until the clients have this many more conclusive answers.
    private func waitForAnswers(_ count: Int) async throws {
        let wanted = await record.tally.answered + count
        try await eventually("service after a kill", within: Self.servicePatience) {
            await record.tally.answered >= wanted
        }
    }

    // MARK: Settling

    /// Waits until there is no violation. By now everything is up again, and every reminder is due.
    private func settle(_ world: TortureWorld, _ clock: TortureClock) async throws -> Outcome {
        try await world.waitUntilReady()
        try await clock.advance(to: minute + TortureDevice.slotsAhead + 1, in: world)
        let began = ContinuousClock.now
        var outcome = Outcome()
        while true {
            let stored = try await StoredSchedule(in: world)
            let ledger = await record.ledger
            outcome.violations = ledger.violations(in: stored)
            outcome.settled = ContinuousClock.now - began
            outcome.reminders = stored.reminders.count
            outcome.matches = stored.tasks.count { $0.partner != nil } / 2
            let receipts = ledger.receipts.values.map(\.count).reduce(0, +)
            outcome.repeats = receipts - Set(ledger.receipts.values.joined().map(\.id)).count
            if outcome.violations.isEmpty || outcome.settled > Self.timeout { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        outcome.tally = await record.tally
        outcome.daemonKills = daemonKills
        outcome.databaseKills = databaseKills
        if !outcome.violations.isEmpty { outcome.output = await world.output }
        return outcome
    }
}
