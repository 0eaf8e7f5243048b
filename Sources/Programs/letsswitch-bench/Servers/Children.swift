import Dispatch
import Glibc
import Synchronization

/// Child processes that must not outlive this process. Ctrl-C and SIGTERM end them too.
final class Children: Sendable {
    static let shared = Children()
    private static let capacity = 16

    private let pids: [Slot] = (0..<capacity).map { _ in Slot() }
    private let queue = DispatchQueue(label: "letsswitch.bench.signals")

    private final class Slot: Sendable {
        let pid = Atomic<pid_t>(0)
    }

    /// Ends the children and then this process on a signal. The caller must keep the sources until the process ends.
    func endOnSignals(then last: @escaping @Sendable () -> Void) -> [any DispatchSourceSignal] {
        [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                self.signalAll()
                last()
                exit(128 + number)
            }
            source.resume()
            return source
        }
    }

    func add(_ pid: pid_t) {
        for slot in pids where slot.pid.compareExchange(expected: 0, desired: pid, ordering: .relaxed).exchanged {
            return
        }
    }

    func remove(_ pid: pid_t) {
        for slot in pids where slot.pid.compareExchange(expected: pid, desired: 0, ordering: .relaxed).exchanged {
            return
        }
    }

    private func signalAll() {
        for slot in pids {
            let pid = slot.pid.load(ordering: .relaxed)
            if pid > 1 { kill(pid, SIGTERM) }
        }
    }
}
