package import Dispatch
import Glibc

/// Hears signals of the process as events on a queue.
package final class SignalWatcher {
    private let source: any DispatchSourceSignal

    /// From now on `signal` no longer does what it does by default; `received` is called on `queue` for each. (Several
    /// that come at once may be heard as one.)
    package init(_ signal: CInt, on queue: DispatchQueue, received: @escaping @Sendable () -> Void) {
        Glibc.signal(signal, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
        source.setEventHandler(handler: received)
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
