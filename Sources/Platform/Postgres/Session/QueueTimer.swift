import Basics
import Dispatch

/// A one-shot timer that can be set again. It ends when its owner is released. It is used only on its queue.
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
