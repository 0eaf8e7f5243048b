import Basics
import Observability
import Sockets

/// Returns unused memory to the system after a burst, within a minute of idleness. The allocator would keep it.
actor IdleMemory: Service {
    private static let interval = Duration.seconds(20)

    private let timer = WakeableTimer()
    private var isStopping = false

    func run() async {
        var decision = ReleaseDecision()
        while !isStopping {
            await timer.sleep(for: Self.interval)
            guard !isStopping, let process = ProcessMetrics.current() else { continue }
            guard decision.isDue(process.cpuSeconds, resident: process.residentBytes, at: .now()) else { continue }
            AllocatorArenas.releaseFreePages()
            decision.released(ProcessMetrics.current()?.residentBytes)
        }
    }

    func stop(within limit: Duration) async {
        isStopping = true
        await timer.wake()
    }
}

/// Decides when memory is released: when the process has been idle since the last look, and has grown since the last
/// release. A release delays allocations for up to some ten milliseconds, so a busy process doesn't get one.
struct ReleaseDecision {
    /// The part of one processor that an idle process uses at most.
    private static let idleShare = 0.1
    /// The growth that is worth a release, in bytes.
    private static let growth = 8_388_608.0

    private var last: (cpuSeconds: Double, at: MonotonicTime)?
    /// The resident bytes after the last release, or the fewest since then.
    private var floor = 0.0

    /// Returns whether memory is to be released now.
    ///
    /// - Parameters:
    ///   - cpuSeconds: The CPU time that the process has used.
    ///   - resident: Its resident bytes.
    mutating func isDue(_ cpuSeconds: Double, resident: Double, at now: MonotonicTime) -> Bool {
        defer { last = (cpuSeconds, now) }
        guard let last else {
            floor = resident
            return false
        }
        floor = min(floor, resident)
        let isIdle = cpuSeconds - last.cpuSeconds <= Self.idleShare * ((now - last.at) / .seconds(1))
        return isIdle && resident >= floor + Self.growth
    }

    mutating func released(_ resident: Double?) {
        if let resident { floor = resident }
    }
}
