import Synchronization

/// How many connected sockets there are, over all event loops that share the count.
package final class SocketCount: Sendable {
    private let value = Atomic<Int>(0)

    package init() {}

    /// From any thread.
    package var current: Int { value.load(ordering: .relaxed) }

    func increment() { value.add(1, ordering: .relaxed) }
    func decrement() { value.subtract(1, ordering: .relaxed) }
}
