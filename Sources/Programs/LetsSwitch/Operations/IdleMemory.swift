import Basics
import Observability
import Sockets

/// Returns unused memory to the system within a minute after a burst has ended. The allocator alone would keep the
/// memory.
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
/// release. A release delays allocations by up to about ten milliseconds, so a busy process doesn't release memory.
struct ReleaseDecision {
    /// The maximum CPU time of an idle process, as a share of one processor.
    private static let idleShare = 0.1
    /// The growth in bytes that is worth a release.
    private static let growth = 8_388_608.0

    private var last: (cpuSeconds: Double, at: MonotonicTime)?
    /// The smallest number of resident bytes since the last release of memory.
    private var floor = 0.0

    /// Returns whether memory must be released now.
    ///
    /// - Parameters:
    ///   - cpuSeconds: The CPU time that the process has used.
    ///   - resident: The resident bytes of the process.
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
