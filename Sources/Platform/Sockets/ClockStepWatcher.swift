import CLinux
import Dispatch
import Glibc

/// Reports that the system's clock was set. Code that makes plans by the time of day must then make them again.
///
/// The watcher uses a `timerfd` of the wall clock that is set for a day far in the future. When the clock is set,
/// reading the timer fails (`TFD_TIMER_CANCEL_ON_SET`). This needs no polling and no wake-ups.
package final class ClockStepWatcher {
    private let source: any DispatchSourceRead

    /// Creates a watcher that calls `stepped` on its own queue whenever the clock was set.
    ///
    /// - Throws: ``SocketError`` if the kernel provides no timer.
    package convenience init(stepped: @escaping @Sendable () -> Void) throws(SocketError) {
        self.init(try Self.makeTimer(), takeStep: Self.takeStep, stepped: stepped)
    }

    /// - Parameters:
    ///   - timer: A descriptor that becomes readable when the clock is set. The watcher owns it.
    ///   - takeStep: Resets the timer. Returns whether the clock was set.
    init(
        _ timer: CInt, takeStep: @escaping @Sendable (CInt) -> Bool, stepped: @escaping @Sendable () -> Void
    ) {
        source = DispatchSource.makeReadSource(
            fileDescriptor: timer, queue: DispatchQueue(label: "clock-steps"))
        source.setEventHandler {
            if takeStep(timer) { stepped() }
        }
        source.setCancelHandler { close(timer) }
        source.resume()
    }

    deinit {
        source.cancel()
    }

    static func makeTimer() throws(SocketError) -> CInt {
        let timer = timerfd_create(CLOCK_REALTIME, CInt(TFD_NONBLOCK) | CInt(TFD_CLOEXEC))
        guard timer >= 0 else { throw SocketError("timerfd_create") }
        guard arm(timer) else {
            let error = SocketError("timerfd_settime")
            close(timer)
            throw error
        }
        return timer
    }

    @Sendable static func takeStep(from timer: CInt) -> Bool {
        var expirations: UInt64 = 0
        let count = read(timer, &expirations, MemoryLayout<UInt64>.size)
        let cancelled = count < 0 && errno == ECANCELED
        _ = arm(timer)
        return cancelled
    }

    private static func arm(_ timer: CInt) -> Bool {
        var setting = itimerspec()
        // This is in the year 2191, which fits into the kernel's 64-bit nanoseconds.
        setting.it_value.tv_sec = 7_000_000_000
        let flags = CInt(TFD_TIMER_ABSTIME) | CInt(TFD_TIMER_CANCEL_ON_SET)
        return timerfd_settime(timer, flags, &setting, nil) == 0
    }
}
