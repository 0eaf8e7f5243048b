package import Dispatch
import Glibc

/// Delivers signals of the process as events on a queue.
///
/// On Linux, Dispatch itself replaces the signal's default action for good. Ignoring the signal as well, as other
/// systems need, would lose signals that come before the source is registered, and silence a second watcher.
package final class SignalWatcher {
    private let source: any DispatchSourceSignal

    /// - Parameters:
    /// - queue: The queue of both closures.
    /// - received: Called for each signal. Several signals at once may cause one call.
    /// - ready: Called once, when the default action of `signal` is disabled.
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

    /// Makes writes to a closed connection fail with an error, instead of ending the process.
    package static func ignoreBrokenPipes() {
        Glibc.signal(SIGPIPE, SIG_IGN)
    }
}
