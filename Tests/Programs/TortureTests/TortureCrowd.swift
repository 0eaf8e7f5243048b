import Foundation
import JourneyTestSupport
import TestSupport

/// People who cheer in a few rooms, on all daemons of a run that share a bus. Whoever loses its daemon comes back to another one.
///
/// Between two strikes all are calm for a moment, and what was said since the moment before is held against what was heard: nothing
/// twice, nobody itself; who has been there all the time has missed no more ales than its daemon has counted as lost, but for those of
/// people whose daemon was killed.
actor TortureCrowd {
    private static let rooms = 3
    private static let people = 12
    private static let pause = Duration.milliseconds(5)
    private static let patience = TimeAllowance.bound(.seconds(20))
    /// From so long after its handshake on, whoever has come hears everybody.
    private static let arrival = .milliseconds(250) * TimeAllowance.factor
    /// For one ale of each to come to all others. Where it isn't enough, there is another attempt.
    private static let attemptLength = TimeAllowance.bound(.seconds(1))
    /// However long they take: one ale that was lost early fails an attempt, and says nothing of the next.
    private static let leastAttempts = 10
    /// Ales that a person has still to hear, on the average of its room, before they wait for it.
    private static let mostBehind = 8

    /// A person's connection, and what it had said and heard when the last calm moment ended.
    private struct Visit {
        let peer: FleetPeer
        let daemon: TortureWorld.Incarnation
        /// Since the last calm moment.
        var isOld = false
        var saidBefore = 0
        var heardBefore = 0
    }

    /// What was said and heard between two calm moments.
    struct Tally: Sendable, Equatable {
        let visit: Int
        let room: UUID
        let daemon: TortureWorld.Incarnation
        var said = 0
        var heard = 0
        var isConnected = true
        /// It was there from the beginning to the end.
        var isWhole = true
    }

    private let world: TortureWorld
    private let ids = (0..<rooms).map { _ in UUID() }
    private var visits: [Visit] = []
    private var present = 0
    private var isCheering = true
    /// People who are saying something.
    private var speaking = 0
    private var living: Task<Void, Never>?
    private var lostBefore: [TortureWorld.Incarnation: Int] = [:]
    private(set) var said = 0
    private(set) var lost = 0

    init(_ world: TortureWorld) {
        self.world = world
    }

    /// Returns when all have come and hear each other: the first calm moment. To be ended also when it throws.
    func begin(seed: UInt64) async throws {
        // Until they do, ales end at their daemon.
        for (endpoint, _) in await world.living {
            try await DaemonFleet.wait(at: endpoint, others: await world.daemonCount - 1)
        }
        var random = SeededRandom(seed: seed)
        let seeds = (0..<Self.people).map { _ in random.next() }
        living = Task {
            await withTaskGroup(of: Void.self) { group in
                for (number, seed) in seeds.enumerated() {
                    group.addTask { await self.live(in: self.ids[number % Self.rooms], SeededRandom(seed: seed)) }
                }
            }
        }
        for violation in try await calm() { throw ClientFailure.violation(violation) }
    }

    func end() async {
        living?.cancel()
        await living?.value
    }

    // MARK: Cheering

    private func live(in room: UUID, _ random: SeededRandom) async {
        var random = random
        while !Task.isCancelled {
            guard let daemon = await world.daemon(using: &random),
                let peer = try? await FleetPeer.enter(room, at: daemon.endpoint)
            else {
                try? await Task.sleep(for: Self.pause)
                continue
            }
            visits.append(Visit(peer: peer, daemon: daemon.incarnation))
            present += 1
            while await peer.isConnected, !Task.isCancelled {
                await cheer(peer)
                try? await Task.sleep(for: .milliseconds(Int.random(in: 1...20, using: &random)))
            }
            present -= 1
            if Task.isCancelled { await peer.leave() }
        }
    }

    private func cheer(_ peer: FleetPeer) async {
        // No faster than is heard: else a busy machine has minutes to hear of what was said in seconds. What was lost stops nobody.
        for _ in 0..<5 where isCheering {
            guard await isBehind(peer.room) else { break }
            try? await Task.sleep(for: .milliseconds(50))
        }
        guard isCheering else { return }
        speaking += 1
        try? await peer.say()
        speaking -= 1
    }

    private func isBehind(_ room: UUID) async -> Bool {
        let missing = Self.missing(in: await tallies(of: room))
        return missing.values.reduce(0, +) > Self.mostBehind * missing.count
    }

    // MARK: Calm

    /// Has everybody be quiet until all hear each other again, and compares; then they go on.
    ///
    /// - Returns: What is wrong.
    func calm() async throws -> [String] {
        isCheering = false
        defer { isCheering = true }
        try await eventually("everybody in the rooms again") { present == Self.people && speaking == 0 }
        try await Task.sleep(for: Self.arrival)
        // Goes on, and ends, on any machine.
        let stopwatch = Stopwatch()
        var attempts = 0
        var isWhole = false
        while !isWhole, attempts < Self.leastAttempts || stopwatch.elapsed < Self.patience {
            attempts += 1
            isWhole = await newAlesComeEverywhere()
        }
        var violations: [String] = []
        if !isWhole {
            violations = [
                "ales don't come everywhere again: \(attempts) attempts in \(stopwatch.passed), the machine late by "
                    + "\(stopwatch.allowance)\n\(await busMetrics())"
            ]
        }
        // Who has missed something knows it by now, from the numbers of what came.
        violations += try await settle()
        try await rebase()
        return violations
    }

    /// Whether each hears one ale of every other, whatever it has missed before.
    private func newAlesComeEverywhere() async -> Bool {
        let end = ContinuousClock.now + Self.attemptLength
        // What is still on its way would be taken for a new one.
        let before = Self.missing(in: await talliesAtRest(until: end))
        for visit in visits { if await visit.peer.isConnected { try? await visit.peer.say() } }
        let deadline = ContinuousClock.now + Self.attemptLength
        while ContinuousClock.now < deadline {
            let missing = Self.missing(in: await tallies())
            if missing.allSatisfy({ $0.value <= before[$0.key] ?? .max }) { return true }
            try? await Task.sleep(for: Self.pause)
        }
        return false
    }

    /// Once two in a row are equal, or at `end`.
    private func talliesAtRest(until end: ContinuousClock.Instant) async -> [Tally] {
        var last = await tallies()
        while ContinuousClock.now < end {
            try? await Task.sleep(for: Self.pause)
            let next = await tallies()
            if next == last { break }
            last = next
        }
        return last
    }

    /// What the daemons say of their bus, for a failure's message.
    private func busMetrics() async -> String {
        var lines: [String] = []
        for (endpoint, daemon) in await world.living {
            let samples = (try? await MetricsReading(endpoint))?.samples.filter { $0.key.hasPrefix("letsswitch_bus_") }
            let text = samples?.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            lines.append("\(daemon): \(text ?? "no answer")")
        }
        return lines.joined(separator: "\n")
    }

    /// What those who are there haven't heard of others, by their visits.
    private static func missing(in tallies: [Tally]) -> [Int: Int] {
        var missing: [Int: Int] = [:]
        for tally in tallies where tally.isConnected {
            missing[tally.visit] = most(for: tally, in: tallies) - tally.heard
        }
        return missing
    }

    /// Waits until all holds, within reason.
    private func settle() async throws -> [String] {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            var lost: [TortureWorld.Incarnation: Int] = [:]
            for (daemon, count) in try await lostNow() { lost[daemon] = count - (lostBefore[daemon] ?? 0) }
            let violations = Self.violations(in: await tallies(), lost: lost) + (await objections())
            if violations.isEmpty || ContinuousClock.now > deadline { return violations }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// - Parameter room: That one's only.
    private func tallies(of room: UUID? = nil) async -> [Tally] {
        var tallies: [Tally] = []
        for (number, visit) in visits.enumerated() where room == nil || room == visit.peer.room {
            var tally = Tally(visit: number, room: visit.peer.room, daemon: visit.daemon)
            let standing = await visit.peer.standing
            tally.said = standing.said - visit.saidBefore
            tally.heard = standing.heard - visit.heardBefore
            tally.isConnected = standing.isConnected
            tally.isWhole = visit.isOld && standing.isConnected
            tallies.append(tally)
        }
        return tallies
    }

    /// - Parameter lost: What the daemons have counted.
    static func violations(in tallies: [Tally], lost: [TortureWorld.Incarnation: Int]) -> [String] {
        tallies.flatMap { tally in
            let most = Self.most(for: tally, in: tallies)
            guard tally.heard <= most else { return ["\(tally.heard) ales heard of \(most) that others said"] }
            let lost = lost[tally.daemon] ?? 0
            let least = Self.most(for: tally, in: tallies.filter(\.isWhole)) - lost
            guard !tally.isWhole || tally.heard >= least else {
                return ["\(tally.heard) ales heard of at least \(least), besides \(lost) counted as lost"]
            }
            return []
        }
    }

    /// What the others in its room have said.
    private static func most(for tally: Tally, in tallies: [Tally]) -> Int {
        tallies.reduce(0) { $1.room == tally.room && $1.visit != tally.visit ? $0 + $1.said : $0 }
    }

    /// What nobody may be sent, and who was cut off though its daemon lives.
    private func objections() async -> [String] {
        var objections: [String] = []
        for visit in visits {
            objections += await visit.peer.objections
            if await !visit.peer.isConnected, await world.isAlive(visit.daemon) {
                objections.append("a peer was cut off by \(visit.daemon)")
            }
        }
        return objections
    }

    private func lostNow() async throws -> [TortureWorld.Incarnation: Int] {
        var lost: [TortureWorld.Incarnation: Int] = [:]
        for daemon in await world.living {
            lost[daemon.incarnation] = Int(
                try await MetricsReading(daemon.endpoint).sum("letsswitch_bus_lost_total"))
        }
        return lost
    }

    /// What was said and heard so far is settled.
    private func rebase() async throws {
        var kept: [Visit] = []
        for var visit in visits {
            let said = await visit.peer.said
            self.said += said - visit.saidBefore
            guard await visit.peer.isConnected else { continue }
            visit.saidBefore = said
            visit.heardBefore = await visit.peer.heard
            visit.isOld = true
            kept.append(visit)
        }
        visits = kept
        for (daemon, count) in try await lostNow() {
            lost += count - (lostBefore[daemon] ?? 0)
            lostBefore[daemon] = count
        }
    }
}
