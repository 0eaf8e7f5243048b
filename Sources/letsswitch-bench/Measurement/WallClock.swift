import Glibc

/// The time of day: when something is due is said in it.
enum WallClock {
    /// Epoch seconds.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
