import Foundation
import JourneyTestSupport
import TestSupport

/// Users that cheer in a few rooms, on all daemons of a run that share a bus. A user that loses its daemon connects to
/// another one.
///
/// Between two kills all users are quiet for a moment. The ales sent since the last calm moment are then compared with
/// the ales received. No ale may arrive twice, or at its sender. A user that was connected all the time may miss as
/// many ales as its daemon has counted as lost, and those of users whose daemon was killed.
actor TortureCrowd {
    private static let rooms = 3
    private static let people = 12
    private static let pause = Duration.milliseconds(5)
    private static let timeout = Deadline.standard
    /// When this time has passed since its handshake, a user receives everybody's ales.
    private static let arrival = .milliseconds(250) * TimeAllowance.factor
    /// The time for one ale of each user to reach all others. If it isn't enough, there is another attempt.
    private static let attemptLength = .seconds(1) * TimeAllowance.factor
    /// The least number of attempts, however long they take. A single lost ale fails an attempt, and says nothing about
    /// the next.
    private static let minAttempts = 10
    /// If the users of a room have more ales than this to receive on average, they pause before they send another.
    private static let maxBehind = 8

    /// A user's connection, and its counts of sent and received ales at the end of the last calm moment.
    private struct Visit {
        let peer: FleetPeer
        let daemon: TortureWorld.Incarnation
        /// Whether the connection existed at the last calm moment.
        var isOld = false
        var sentBefore = 0
        var receivedBefore = 0
    }

    /// The ales sent and received between two calm moments.
    struct Tally: Sendable, Equatable {
        let visit: Int
        let room: UUID
        let daemon: TortureWorld.Incarnation
        var sent = 0
        var received = 0
        var isConnected = true
        /// Whether the connection existed from the beginning to the end.
        var isWhole = true
    }

    private let world: TortureWorld
    private let ids = (0..<rooms).map { _ in UUID() }
    private var visits: [Visit] = []
    private var present = 0
    private var isCheering = true
    /// The number of users that are sending an ale.
    private var speaking = 0
    private var living: Task<Void, Never>?
    private var lostBefore: [TortureWorld.Incarnation: Int] = [:]
    private(set) var sent = 0
    private(set) var lost = 0

    init(_ world: TortureWorld) {
        self.world = world
    }

    /// Returns when all users have entered and receive each other's ales, which is the first calm moment. Call
    /// ``end()`` even if this throws.
    func begin(seed: UInt64) async throws {
        // Before the daemons know of each other, ales don't leave their daemon.
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
        // Users send no faster than their room receives. Otherwise a busy machine would need minutes to deliver the
        // ales of seconds. The pause is short, so a lost ale doesn't stop a user.
        for _ in 0..<5 where isCheering {
            guard await isBehind(peer.room) else { break }
            try? await Task.sleep(for: .milliseconds(50))
        }
        guard isCheering else { return }
        speaking += 1
        try? await peer.send()
        speaking -= 1
    }

    private func isBehind(_ room: UUID) async -> Bool {
        let missing = Self.missing(in: await tallies(of: room))
        return missing.values.reduce(0, +) > Self.maxBehind * missing.count
    }

    // MARK: Calm

    /// Keeps all users quiet until they receive each other's ales again, and compares the counts. Then lets the users
    /// continue.
    ///
    /// - Returns: The violations.
    func calm() async throws -> [String] {
        isCheering = false
        defer { isCheering = true }
        try await eventually("everybody in the rooms again") { present == Self.people && speaking == 0 }
        try await Task.sleep(for: Self.arrival)
        // Makes enough attempts on any machine, and ends.
        let began = ContinuousClock.now
        var attempts = 0
        var isWhole = false
        while !isWhole, attempts < Self.minAttempts || ContinuousClock.now - began < Self.timeout {
            attempts += 1
            isWhole = await newAlesComeEverywhere()
        }
        var violations: [String] = []
        if !isWhole {
            violations = [
                "ales don't arrive everywhere: \(attempts) attempts in \(ContinuousClock.now - began)\n\(await busMetrics())"
            ]
        }
        // By now the daemons have noticed each missing ale by the numbers of later ones.
        violations += try await settle()
        try await rebase()
        return violations
    }

    /// Returns whether each user receives one new ale of every other, regardless of earlier losses.
    private func newAlesComeEverywhere() async -> Bool {
        let end = ContinuousClock.now + Self.attemptLength
        // An ale in flight could be mistaken for a new one.
        let before = Self.missing(in: await talliesAtRest(until: end))
        for visit in visits { if await visit.peer.isConnected { try? await visit.peer.send() } }
        let deadline = ContinuousClock.now + Self.attemptLength
        while ContinuousClock.now < deadline {
            let missing = Self.missing(in: await tallies())
            if missing.allSatisfy({ $0.value <= before[$0.key] ?? .max }) { return true }
            try? await Task.sleep(for: Self.pause)
        }
        return false
    }

    /// Returns the tallies as soon as two in a row are equal, or at `end`.
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

    /// Returns the daemons' bus metrics, for a failure's message.
    private func busMetrics() async -> String {
        var lines: [String] = []
        for (endpoint, daemon) in await world.living {
            let samples = (try? await MetricsReading(endpoint))?.samples.filter { $0.key.hasPrefix("letsswitch_bus_") }
            let text = samples?.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            lines.append("\(daemon): \(text ?? "no answer")")
        }
        return lines.joined(separator: "\n")
    }

    /// Returns for each connected visit the number of others' ales that it hasn't received.
    private static func missing(in tallies: [Tally]) -> [Int: Int] {
        var missing: [Int: Int] = [:]
        for tally in tallies where tally.isConnected {
            missing[tally.visit] = most(for: tally, in: tallies) - tally.received
        }
        return missing
    }

    /// Waits until there is no violation, for a limited time. Returns the remaining violations.
    private func settle() async throws -> [String] {
        let deadline = ContinuousClock.now + Self.timeout
        while true {
            var lost: [TortureWorld.Incarnation: Int] = [:]
            for (daemon, count) in try await lostNow() { lost[daemon] = count - (lostBefore[daemon] ?? 0) }
            let violations = Self.violations(in: await tallies(), lost: lost) + (await objections())
            if violations.isEmpty || ContinuousClock.now > deadline { return violations }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// - Parameter room: Returns only the tallies of this room; `nil` means all rooms.
    private func tallies(of room: UUID? = nil) async -> [Tally] {
        var tallies: [Tally] = []
        for (number, visit) in visits.enumerated() where room == nil || room == visit.peer.room {
            var tally = Tally(visit: number, room: visit.peer.room, daemon: visit.daemon)
            let snapshot = await visit.peer.snapshot
            tally.sent = snapshot.sent - visit.sentBefore
            tally.received = snapshot.received - visit.receivedBefore
            tally.isConnected = snapshot.isConnected
            tally.isWhole = visit.isOld && snapshot.isConnected
            tallies.append(tally)
        }
        return tallies
    }

    /// - Parameter lost: The number of ales that each daemon has counted as lost.
    static func violations(in tallies: [Tally], lost: [TortureWorld.Incarnation: Int]) -> [String] {
        tallies.flatMap { tally in
            let most = Self.most(for: tally, in: tallies)
            guard tally.received <= most else { return ["\(tally.received) ales received of \(most) that others said"] }
            let lost = lost[tally.daemon] ?? 0
            let least = Self.most(for: tally, in: tallies.filter(\.isWhole)) - lost
            guard !tally.isWhole || tally.received >= least else {
                return ["\(tally.received) ales received of at least \(least), besides \(lost) counted as lost"]
            }
            return []
        }
    }

    /// Returns the number of ales that the others in its room have sent.
    private static func most(for tally: Tally, in tallies: [Tally]) -> Int {
        tallies.reduce(0) { $1.room == tally.room && $1.visit != tally.visit ? $0 + $1.sent : $0 }
    }

    /// Returns messages that no peer may receive, and peers that were disconnected although their daemon is alive.
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

    /// Makes the current counts the basis of the next comparison.
    private func rebase() async throws {
        var kept: [Visit] = []
        for var visit in visits {
            let sent = await visit.peer.sent
            self.sent += sent - visit.sentBefore
            guard await visit.peer.isConnected else { continue }
            visit.sentBefore = sent
            visit.receivedBefore = await visit.peer.received
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
