package import Dispatch
import Glibc

/// Delivers signals of the process as events on a queue.
///
/// On Linux, Dispatch permanently replaces the signal's default action. The signal must not be ignored as well, as
/// other systems need. Otherwise signals that come before the source is registered would be lost, and a second watcher
/// would get none.
package final class SignalWatcher {
    private let source: any DispatchSourceSignal

    /// - Parameters:
    ///   - queue: The queue on which both closures are called.
    ///   - received: Called for each signal. Several signals in quick succession may cause only one call.
    ///   - ready: Called once, when `signal` doesn't cause its default action any more.
    package init(
        _ signal: CInt, on queue: DispatchQueue, received: @escaping @Sendable () -> Void,
        ready: @escaping @Sendable () -> Void = {}
    ) {
        source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
        source.setEventHandler(handler: received)
        source.setRegistrationHandler(handler: ready)
        source.resume()
    }

    deinit {
        source.cancel()
    }

    /// Makes writes to a closed connection fail with an error. Otherwise such a write would end the process.
    package static func ignoreBrokenPipes() {
        Glibc.signal(SIGPIPE, SIG_IGN)
    }
}
