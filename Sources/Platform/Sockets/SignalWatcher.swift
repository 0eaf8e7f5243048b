package import Dispatch
import Glibc

/// Hears signals of the process as events on a queue.
///
/// On Linux, Dispatch itself takes over what the signal does, once for all: to ignore the signal as well, as one does
/// elsewhere, would lose those that come before the source is registered, and silence a second watcher for good.
package final class SignalWatcher {
    private let source: any DispatchSourceSignal

    /// - Parameters:
    ///   - queue: Where both closures are called.
    ///   - received: Called for each signal. (Several that come at once may be heard as one.)
    ///   - ready: Called once, when `signal` no longer does what it does by default.
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

    /// A peer that is gone must be an error of `send` or `write`, not the end of the process.
    package static func ignoreBrokenPipes() {
        Glibc.signal(SIGPIPE, SIG_IGN)
    }
}
