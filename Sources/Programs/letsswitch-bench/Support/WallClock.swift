// In a whole-module build, `timespec` comes from CLinux.
import CLinux
import Glibc

/// The time of day. Due instants are given in it.
enum WallClock {
    static let day = 86_400

    /// Returns the time in epoch seconds.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
