import Foundation
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
    struct Tally: Sendable {
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
    private var living: Task<Void, Never>?
    private var lostBefore: [TortureWorld.Incarnation: Int] = [:]
    private(set) var said = 0
    private(set) var lost = 0

    init(_ world: TortureWorld) {
        self.world = world
    }

    /// Returns when all have come and hear each other: the first calm moment.
    func begin(seed: UInt64) async throws {
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
                if isCheering { try? await peer.say() }
                try? await Task.sleep(for: .milliseconds(Int.random(in: 1...20, using: &random)))
            }
            present -= 1
            if Task.isCancelled { await peer.leave() }
        }
    }

    // MARK: Calm

    /// Has everybody be quiet until all hear each other again, and compares; then they go on.
    ///
    /// - Returns: What is wrong.
    func calm() async throws -> [String] {
        isCheering = false
        defer { isCheering = true }
        try await eventually("everybody in the rooms again", within: Self.patience) { present == Self.people }
        let deadline = ContinuousClock.now + Self.patience
        var isWhole = false
        while !isWhole, ContinuousClock.now < deadline { isWhole = await newAlesComeEverywhere() }
        // Who has missed something knows it by now, from the numbers of what came.
        let violations = try await settle() + (isWhole ? [] : ["ales don't come everywhere again"])
        try await rebase()
        return violations
    }

    /// Whether each hears one ale of every other, whatever it has missed before.
    private func newAlesComeEverywhere() async -> Bool {
        let before = Self.missing(in: await tallies())
        for visit in visits where await visit.peer.isConnected { try? await visit.peer.say() }
        let stopwatch = Stopwatch()
        while stopwatch.elapsed < TimeAllowance.bound(.seconds(1)) {
            let missing = Self.missing(in: await tallies())
            if missing.allSatisfy({ $0.value <= before[$0.key] ?? .max }) { return true }
            try? await Task.sleep(for: Self.pause)
        }
        return false
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

    private func tallies() async -> [Tally] {
        var tallies: [Tally] = []
        for (number, visit) in visits.enumerated() {
            var tally = Tally(visit: number, room: visit.peer.room, daemon: visit.daemon)
            tally.said = await visit.peer.said - visit.saidBefore
            tally.heard = await visit.peer.heard - visit.heardBefore
            tally.isConnected = await visit.peer.isConnected
            tally.isWhole = visit.isOld && tally.isConnected
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
