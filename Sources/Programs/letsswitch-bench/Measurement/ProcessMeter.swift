// In a whole-module build, `timespec` comes from CLinux.
import CLinux
import Glibc

/// A meter of a process's CPU time, user and system together, and of its resident memory.
///
/// `/proc/<pid>/stat` counts CPU time only in hundredths of a second. `/proc/<pid>/task/*/schedstat` loses the time of
/// threads that have ended. The process's CPU clock has the sum in nanoseconds (clock_getcpuclockid(3)). ``stat()`` is
/// read too, for the shares of user and system time, and as a check.
struct ProcessMeter {
    private static let ticksPerSecond = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    private let pid: pid_t
    private let clock: clockid_t

    init(pid: pid_t) throws(BenchFailure) {
        self.pid = pid
        var clock = clockid_t()
        let code = clock_getcpuclockid(pid, &clock)
        guard code == 0 else { throw BenchFailure("clock_getcpuclockid: \(String(cString: strerror(code)))") }
        self.clock = clock
    }

    /// This process's meter.
    static func own() throws(BenchFailure) -> ProcessMeter { try ProcessMeter(pid: getpid()) }

    /// Returns the CPU time in seconds.
    func cpu() throws(BenchFailure) -> Double {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { throw BenchFailure(call: "clock_gettime") }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Returns the CPU seconds of `/proc/<pid>/stat`, in user mode and in kernel mode (proc(5): fields 14 and 15).
    func stat() throws(BenchFailure) -> (user: Double, system: Double) {
        let fields = (ProcText.read("/proc/\(pid)/stat") ?? "").split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchFailure("/proc/\(pid)/stat can't be read")
        }
        return (user / Self.ticksPerSecond, system / Self.ticksPerSecond)
    }

    /// Returns the exact number of resident bytes. `/proc/<pid>/statm` would be some pages off, because it adds up
    /// counters of processors.
    func residentBytes() throws(BenchFailure) -> Int { try memory("Rss:") }

    /// Returns the part of the resident bytes that isn't backed by a file. Code is backed by a file and is loaded when
    /// it is first used.
    func anonymousBytes() throws(BenchFailure) -> Int { try memory("Anonymous:") }

    private func memory(_ name: String) throws(BenchFailure) -> Int {
        let lines = (ProcText.read("/proc/\(pid)/smaps_rollup") ?? "").split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix(name) }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { throw BenchFailure("/proc/\(pid)/smaps_rollup can't be read") }
        return kilobytes * 1024
    }

    /// Returns when the process has used almost no CPU time for 200 ms, or after ten seconds. By then the server has
    /// done the work that it delays, such as writing attendance every 100 ms. This work counts for the load that caused
    /// it.
    func waitUntilIdle() throws(BenchFailure) {
        var readings = [try cpu()]
        for _ in 0..<500 {
            usleep(20_000)
            readings.append(try cpu())
            if readings.count > 10, readings[readings.count - 1] - readings[readings.count - 11] < 0.000_5 { return }
        }
    }
}

/// The CPU time of each living thread of a process (`/proc/<pid>/task/*/schedstat`).
struct ThreadTimes {
    private var nanoseconds: [Int: Double] = [:]

    init(pid: pid_t) throws(BenchFailure) {
        guard let directory = opendir("/proc/\(pid)/task") else { throw BenchFailure(call: "opendir") }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let thread = Int(name), let text = ProcText.read("/proc/\(pid)/task/\(name)/schedstat") else {
                continue
            }
            nanoseconds[thread] = text.split(separator: " ").first.flatMap { Double($0) }
        }
    }

    /// Returns each thread's share of the CPU time since `earlier`, the largest first.
    func shares(since earlier: ThreadTimes) -> [Double] {
        let times = nanoseconds.map { $0.value - (earlier.nanoseconds[$0.key] ?? 0) }.sorted(by: >)
        let sum = max(1, times.reduce(0, +))
        return times.map { $0 / sum }
    }
}
