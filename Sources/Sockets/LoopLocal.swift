/// The key of a value that every event loop has its own of, made when the loop first asks for it.
///
/// This is how code above the sockets keeps state per loop (the rooms of that loop, its counters) without a lock and
/// without sharing: the key is `Sendable`, the value is reachable only with a ``Reactor`` in hand.
package final class LoopLocal<Value: AnyObject>: Sendable {
    package init() {}

    /// This loop's value, made by `make` if there is none yet. On the loop. Costs a dictionary look-up: once per
    /// connection, not per message.
    package func value(on reactor: Reactor, make: () -> Value) -> Value {
        let key = ObjectIdentifier(self)
        if let value = reactor.locals[key] as? Value { return value }
        let value = make()
        reactor.locals[key] = value
        return value
    }
}
