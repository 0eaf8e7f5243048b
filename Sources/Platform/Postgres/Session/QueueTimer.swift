import Basics
import Dispatch

/// A one-shot timer that can be set again. It ends with its owner. Confined to its queue.
final class QueueTimer {
    private let source: any DispatchSourceTimer

    init(queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler(handler: handler)
        source.activate()
    }

    deinit {
        source.cancel()
    }

    func schedule(after delay: Duration) {
        source.schedule(deadline: .now() + max(.zero, delay).dispatchInterval, leeway: .milliseconds(1))
    }
}
