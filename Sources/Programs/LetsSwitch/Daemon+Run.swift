import Basics
import Dispatch
import Glibc
import Observability
package import Settings
import Sockets

extension Daemon {
    /// Runs the daemon until a signal ends it. SIGTERM and SIGINT start a drain, and a second signal ends the daemon at
    /// once. SIGHUP reads the certificate again, or starts a drain if the terminal is gone.
    ///
    /// - Returns: The exit status.
    package static func run(_ configuration: Configuration) async -> Int32 {
        SignalWatcher.ignoreBrokenPipes()
        // One arena for each loop, and two for the other threads.
        AllocatorArenas.limit(to: configuration.loops + 2)
        let log = Log(level: configuration.logLevel, format: configuration.logFormat)
        let daemon = Daemon(configuration, log: log)
        let terminal = ControllingTerminal()
        let (reloads, reload) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (signals, received) = AsyncStream<Int32>.makeStream()
        let queue = DispatchQueue(label: "letsswitch.signals")
        let watchers = [SIGTERM, SIGINT, SIGHUP].map { signal in
            SignalWatcher(signal, on: queue) {
                if signal == SIGHUP, !terminal.isGone { reload.yield() } else { received.yield(signal) }
            }
        }
        defer { withExtendedLifetime(watchers) {} }

        let starting = Task { try await daemon.start() }
        // Reloads run one after the other, so that the last request wins.
        let reloading = Task {
            guard (try? await starting.value) != nil else { return }
            for await _ in reloads { await daemon.reload() }
        }
        defer { reloading.cancel() }
        let ending = Task {
            var count = 0
            for await _ in signals {
                count += 1
                if count == 1 {
                    Task {
                        // A start in progress is completed within the drain's time, so that it leaves no partial state.
                        await withTimeout(configuration.drainTimeout) {
                            _ = try? await starting.value
                        } onTimeout: {
                            starting.cancel()
                        }
                        await daemon.stop()
                        received.finish()
                    }
                } else {
                    await daemon.abandonCluster()
                    log.flush()
                    _exit(EXIT_FAILURE)
                }
            }
        }
        do {
            _ = try await starting.value
        } catch {
            log.error("can't start", ["error": .string("\(error)")])
            await daemon.stop()
            log.flush()
            return EXIT_FAILURE
        }
        await ending.value
        log.flush()
        return EXIT_SUCCESS
    }
}
