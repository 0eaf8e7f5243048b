import Foundation
import JourneyTestSupport
import Postgres
import TestSupport

/// One rematch run: two daemons on one database. Daemons and the database are killed while devices leave each
/// other, move, come late or stay away. After each kill the answers are compared with the stored data.
actor RematchRun {
    private static let deviceCount = 8
    /// The time in which everything must become consistent when no request is in progress.
    private static let timeout = Deadline.standard
    /// The time for the first answers after a kill.
    private static let servicePatience = Deadline.standard
    /// The number of seconds before the lead from which on a host may be matched with anybody. Invitations therefore
    /// lapse between two minutes.
    private static let invitationHold = 90
    private static let flags = [
        "--no-show-after", "1s", "--presence-grace", "1s", "--late-join", "1h", "--max-tasks-per-device", "10000",
        "--invitation-hold", "\(invitationHold)s",
    ]

    private var random: SeededRandom
    private let record = RematchRecord()
    private var outcome = Outcome()

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
    }

    struct Outcome: Sendable {
        var violations: [String] = []
        var tally: [String: Int] = [:]
        var kills = 0
        var matches = 0
        var reminders = 0
        var rematches = 0
        /// The end of the daemons' logs, if there is a violation.
        var output = ""
    }

    func run(kills: Int) async throws -> Outcome {
        let world = try await TortureWorld(.shared, flags: Self.flags)
        try await world.start()
        let clock = try await TortureClock.install(in: world, unit: 60)
        let devices = (0..<Self.deviceCount).map {
            RematchDevice(name: "device-\($0)", world: world, clock: clock, record: record)
        }
        let listening = crowd(devices) { device, random in await device.listen(random) }
        let scenario = PreferenceScenario(in: world, clock: clock, record: record)
        do {
            try await scenario.begin()
            while outcome.kills < kills, outcome.violations.isEmpty {
                try await kill(world, devices, scenario)
                if outcome.kills < kills { try await nextMinute(world, clock) }
            }
            if outcome.violations.isEmpty { try await start(world, clock, devices) }
        } catch {
            outcome.violations.append("\(error)")
        }
        outcome.tally = await record.tally
        if !outcome.violations.isEmpty { outcome.output = await world.output }
        listening.cancel()
        await listening.value
        let statuses = try await world.stop()
        if statuses.contains(where: { $0 != .exited(0) }) {
            outcome.violations.append("the daemons ended with \(statuses)")
        }
        return outcome
    }

    /// Runs the same work on all devices.
    private func crowd(
        _ devices: [RematchDevice], _ work: @escaping @Sendable (RematchDevice, SeededRandom) async -> Void
    ) -> Task<Void, Never> {
        let seeds = devices.map { _ in random.next() }
        return Task {
            await withTaskGroup(of: Void.self) { group in
                for (device, seed) in zip(devices, seeds) {
                    group.addTask { await work(device, SeededRandom(seed: seed)) }
                }
            }
        }
    }

    // MARK: Tasks

    private func nextMinute(_ world: TortureWorld, _ clock: TortureClock) async throws {
        await record.nextMinute()
        try await clock.advance(to: await record.minute, in: world)
    }

    /// Kills something while all devices send requests, and then checks the stored data. After some more requests
    /// without a kill also checks each device's view.
    private func kill(_ world: TortureWorld, _ devices: [RematchDevice], _ scenario: PreferenceScenario) async throws {
        let choose = try await scenario.prepare(
            outcome.kills, PreferenceScenario.Way.allCases.randomElement(using: &random) ?? .registers)
        let working = crowd(devices) { device, random in await device.work(random) }
        let answered = await waitForAnswers(Int.random(in: 5...40, using: &random))
        let delay = Int.random(in: 0...20, using: &random)
        async let choosing: Void = {
            try await Task.sleep(for: .milliseconds(delay))
            try await choose()
        }()
        try await kill(in: world)
        working.cancel()
        await working.value
        try await choosing
        guard answered else { return }
        try await calm(world, devices[0].clock, .rematches)
        guard outcome.violations.isEmpty else { return }
        try await restartListeners(devices)
        let peaceful = crowd(devices) { device, random in await device.work(random) }
        await waitForAnswers(20)
        peaceful.cancel()
        await peaceful.value
        try await calm(world, devices[0].clock, .rematches, asTold: true)
    }

    private func kill(in world: TortureWorld) async throws {
        let victim = Int.random(in: 0..<(await world.daemonCount), using: &random)
        let choice = Int.random(in: 0..<3, using: &random)
        outcome.kills += 1
        if choice != 0 { try await world.killDaemon(victim) }
        if choice != 1 {
            _ = try await world.killDatabase()
            try await world.startDatabase()
        }
        if choice != 0 {
            try await world.startDaemon(victim)
            try await world.waitForDaemon(victim)
        }
        try await world.waitUntilReady()
    }

    /// Waits until the clients have this many more answers. Records a violation if they don't get them in time.
    @discardableResult
    private func waitForAnswers(_ count: Int) async -> Bool {
        let wanted = await record.answered + count
        do {
            try await eventually("service after a kill", within: Self.servicePatience) {
                await record.answered >= wanted
            }
            return true
        } catch {
            outcome.violations.append("\(error)")
            return false
        }
    }

    /// Waits until every device has a stream and has read its days again. A killed daemon may have lost notifications.
    private func restartListeners(_ devices: [RematchDevice]) async throws {
        for device in devices { try await device.lookAgain(within: Self.servicePatience) }
    }

    // MARK: Starts

    /// Starts a slot. Some devices enter their rooms while something is killed, and others register late. No present
    /// device may wait in vain while another waits, too.
    private func start(_ world: TortureWorld, _ clock: TortureClock, _ devices: [RematchDevice]) async throws {
        let last = await record.minute + RematchDevice.slotsAhead
        // All reminders are sent first.
        try await clock.advance(to: last + 1, in: world)
        try await calm(world, clock, .rematches)
        guard outcome.violations.isEmpty else { return }
        let number = Int.random(in: 0...last, using: &random)
        try await clock.start(number, in: world)
        let slot = clock.slot(number)
        let coming = devices.filter { _ in Bool.random(using: &random) }
        let attending = crowd(coming) { device, random in await device.attend(slot, random) }
        defer { attending.cancel() }
        // Devices that stay away may report a start, too.
        let diligent = devices.filter { _ in Bool.random(using: &random) }
        let starting = crowd(diligent) { device, random in await device.start(slot, random) }
        defer { starting.cancel() }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...1_500, using: &random)))
        try await kill(in: world)
        var late = SeededRandom(seed: random.next())
        for device in devices where Bool.random(using: &late) {
            if let endpoint = await world.endpoint(using: &late) {
                await device.register(slot, started: true, endpoint)
            }
        }
        try await eventually("all to be paired who wait") {
            // Two devices stay unmatched if one has blocked the other.
            let rows = try await world.sql(
                """
                WITH waiting AS MATERIALIZED (
                    SELECT own.* FROM schedule.tasks_to_rematch(
                        to_timestamp(\(slot)) - interval '1 second', to_timestamp(\(slot)), 1, 1) AS own
                )
                SELECT count(*) AS n FROM waiting AS one
                WHERE one.waits_until IS NULL OR one.is_absent OR EXISTS (
                    SELECT FROM waiting AS other
                    WHERE other.id <> one.id AND NOT core.is_blocked(one.device_id, other.device_id))
                """)
            return try rows[0].integer("n") == 0
        }
        for running in [attending, starting] {
            running.cancel()
            await running.value
        }
        for device in devices {
            if let endpoint = await world.anyEndpoint { await device.readHistory(endpoint) }
        }
        try await calm(world, clock, .started)
        outcome.rematches = try await world.sql(
            "SELECT count(*) AS n FROM schedule.task WHERE starts_at = to_timestamp(\(slot)) AND was_dissolved")[0]
            .integer("n")
    }

    // MARK: Judging

    /// Waits until there is no violation. No request may be in progress. The stored data is the basis of later checks.
    private func calm(
        _ world: TortureWorld, _ clock: TortureClock, _ stage: StoredSchedule.Stage, asTold: Bool = false
    ) async throws {
        try await eventually("the statements' end", within: Self.timeout) {
            let rows = try await world.sql(
                """
                SELECT count(*) AS n FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND state IN ('active', 'idle in transaction')
                """)
            return try rows[0].integer("n") == 0
        }
        let slots = clock.slot(0)...clock.slot(await record.minute + RematchDevice.slotsAhead)
        let deadline = ContinuousClock.now + Self.timeout
        while true {
            let stored = try await StoredSchedule(in: world)
            let ledger = await record.ledger
            outcome.violations = ledger.violations(in: stored, slots: slots, hold: Self.invitationHold, stage)
            if asTold { outcome.violations += ledger.misunderstandings(in: stored, slots: slots) }
            outcome.matches = stored.tasks.count { $0.partner != nil } / 2
            outcome.reminders = stored.reminders.count
            guard !outcome.violations.isEmpty, ContinuousClock.now < deadline else {
                return await record.note { $0.rebase(on: stored, slots: slots) }
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
