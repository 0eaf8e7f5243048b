import Observability
import Sockets

/// Reports to systemd that the daemon works while every event loop answers. If a loop hangs, the reports end, and
/// systemd restarts the daemon.
struct Watchdog: Sendable {
    let loops: [EventLoop]
    let notifier: SystemdNotifier

    /// Reports twice within `limit`, until the task is cancelled.
    func run(within limit: Duration) async {
        while !Task.isCancelled {
            await report()
            try? await Task.sleep(for: limit / 2)
        }
    }

    /// Reports once all loops have answered.
    func report() async {
        for loop in loops { await loop.run { _ in } }
        notifier.alive()
    }
}
