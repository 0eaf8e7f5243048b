import Glibc

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

    /// The parts that the threads had in what was done between, the largest first.
    func shares(since earlier: ThreadTimes) -> [Double] {
        let times = nanoseconds.map { $0.value - (earlier.nanoseconds[$0.key] ?? 0) }.sorted(by: >)
        let sum = max(1, times.reduce(0, +))
        return times.map { $0 / sum }
    }
}
