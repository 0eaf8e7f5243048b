import Basics
import Glibc

/// The kernel's numbers about the process, under Prometheus' conventional names.
package struct ProcessMetrics: Sendable, Equatable {
    package var cpuSeconds: Double
    package var residentBytes: Double
    package var virtualBytes: Double
    package var threads: Double
    /// The time at which the process started, in seconds since 1970.
    package var startSeconds: Double
    package var openDescriptors: Double?
    package var maxDescriptors: Double?

    /// Reads `/proc`, which takes some tens of microseconds. Before Linux 6.2 it also counts the open descriptors,
    /// which takes two microseconds each.
    ///
    /// Returns `nil` if there is no `/proc`.
    package static func current() -> ProcessMetrics? {
        guard let stat = ProcFile.read("/proc/self/stat"), let system = ProcFile.read("/proc/stat"),
            var metrics = ProcessMetrics(
                stat: stat, bootSeconds: bootSeconds(system), ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))),
                pageBytes: Double(sysconf(Int32(_SC_PAGESIZE))))
        else { return nil }
        metrics.openDescriptors = ProcFile.openDescriptors().map(Double.init)
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            metrics.maxDescriptors = Double(limit.rlim_cur)
        }
        return metrics
    }

    /// Parses `/proc/[pid]/stat` (proc(5)). The command in parentheses may contain any characters, so fields are
    /// counted from the end of the command.
    package init?(stat: String, bootSeconds: Double, ticksPerSecond: Double, pageBytes: Double) {
        guard ticksPerSecond > 0, let end = stat.lastIndex(of: ")") else { return nil }
        // The first field after the command is number 3, the state.
        let fields = stat[stat.index(after: end)...].split(whereSeparator: \.isWhitespace)
        func field(_ number: Int) -> Double? {
            fields.indices.contains(number - 3) ? Double(fields[number - 3]) : nil
        }
        guard let user = field(14), let system = field(15), let threads = field(20), let start = field(22),
            let virtual = field(23), let resident = field(24)
        else { return nil }
        cpuSeconds = (user + system) / ticksPerSecond
        self.threads = threads
        startSeconds = bootSeconds + start / ticksPerSecond
        virtualBytes = virtual
        residentBytes = resident * pageBytes
    }

    static func bootSeconds(_ stat: String) -> Double {
        let line = stat.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst("btime ".count)) } ?? 0
    }

    package func write(to text: inout MetricsText) {
        text.counter("process_cpu_seconds_total", "User and system CPU time in seconds.", seconds: cpuSeconds)
        text.gauge("process_resident_memory_bytes", "Resident memory in bytes.", residentBytes)
        text.gauge("process_virtual_memory_bytes", "Virtual memory in bytes.", virtualBytes)
        text.gauge("process_threads", "Number of threads.", threads)
        text.gauge("process_start_time_seconds", "Start time of the process, in seconds since 1970.", startSeconds)
        if let openDescriptors { text.gauge("process_open_fds", "Number of open file descriptors.", openDescriptors) }
        if let maxDescriptors {
            text.gauge("process_max_fds", "Maximum number of open file descriptors.", maxDescriptors)
        }
    }
}

/// Reads the kernel's small text files.
enum ProcFile {
    /// The maximum size of a file in bytes. `/proc/stat` has a line for each interrupt and each core before the lines
    /// that are needed.
    private static let maxBytes = 262_144

    /// Returns the whole file, or `nil` if it can't be read or is larger than 256 KiB.
    static func read(_ path: String) -> String? {
        (try? WholeFile(path, limit: maxBytes))?.text
    }

    /// Returns the number of this process's open descriptors.
    static func openDescriptors() -> Int? {
        let directory = "/proc/self/fd"
        var status = stat()
        // Since Linux 6.2, the size of the directory is the number of descriptors. In earlier versions, and in other
        // implementations of /proc, the size is 0.
        if stat(directory, &status) == 0, status.st_size > 0 { return Int(status.st_size) }
        // The three other entries are ".", ".." and the descriptor that reads the directory.
        return entries(directory).map { max(0, $0 - 3) }
    }

    /// Returns the number of entries in a directory, including `.` and `..`.
    static func entries(_ path: String) -> Int? {
        guard let directory = opendir(path) else { return nil }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }
}
