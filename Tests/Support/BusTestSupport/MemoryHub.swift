import Dispatch
import Foundation
import FoundationEssentials
package import Rooms

/// Replaces PostgreSQL or RabbitMQ between daemons, in the test's memory. The test can cut it, hold messages, drop and
/// refuse them.
///
/// `@unchecked Sendable`: `members` and the switches are accessed with `lock` held, and the lock is never held across a
/// call out of here.
package final class MemoryHub: @unchecked Sendable {
    /// Returns `true` for a packet that the hub drops on its way to one daemon.
    package typealias DropRule = @Sendable (_ packet: BusPacket, _ sender: DaemonID, _ receiver: DaemonID) -> Bool

    private let inboxLimit: Int
    private let lock = NSLock()
    private var members: [DaemonID: Member] = [:]
    private var isCut = false
    private var refusal: String?
    private var isDropped: DropRule?

    /// - Parameter inboxLimit: The maximum number of waiting packets for a held daemon. Beyond it the oldest are lost.
    package init(inboxLimit: Int = 100_000) {
        self.inboxLimit = inboxLimit
    }

    /// Returns a bus for a daemon on this hub.
    package func makeBus(_ id: DaemonID = DaemonID()) -> MemoryBus {
        MemoryBus(hub: self, id: id)
    }

    // MARK: - Switches

    /// Cuts the hub for all daemons. Messages in progress are lost.
    package func cut() {
        change {
            isCut = true
            for id in Array(members.keys) { members[id]?.lose("the hub is cut") }
        }
    }

    /// Cuts the connection of one daemon.
    package func cut(_ id: DaemonID) {
        change { members[id]?.lose("the hub has cut this daemon off") }
    }

    /// Reconnects all daemons that were cut off.
    package func heal() {
        change {
            isCut = false
            for id in Array(members.keys) { members[id]?.connect() }
        }
    }

    /// Holds messages for a daemon until ``release(_:)``, as if its process were stopped. It can still send.
    package func hold(_ id: DaemonID) {
        change { members[id]?.isHeld = true }
    }

    package func release(_ id: DaemonID) {
        change { members[id]?.isHeld = false }
    }

    /// Drops packets for which `rule` is true; `nil` drops none. Drops aren't reported. `rule` must not call the hub.
    package func drop(where rule: DropRule?) {
        change { isDropped = rule }
    }

    /// Refuses all packets with this message from now on. `nil` ends that.
    package func refuse(_ message: String?) {
        change { refusal = message }
    }

    // MARK: - For its buses

    func start(_ id: DaemonID, _ receive: @escaping @Sendable (BusEvent) -> Void) {
        change {
            guard members[id] == nil else { return }
            var member = Member(id, receive: receive)
            if isCut { member.lose("the hub is cut") } else { member.connect() }
            members[id] = member
        }
    }

    func stop(_ id: DaemonID) async {
        let queue = lock.withLock { members.removeValue(forKey: id)?.queue }
        // The daemon's queue may still be delivering an event, so this waits until the queue is empty.
        await withCheckedContinuation { ended in
            guard let queue else { return ended.resume() }
            queue.async { ended.resume() }
        }
    }

    func send(_ packets: [BusPacket], from sender: DaemonID) throws(BusError) {
        let outcome: Result<Void, BusError> = change {
            guard let member = members[sender], member.isConnected else { return .failure(.unavailable) }
            if let refusal { return .failure(.refused(message: refusal)) }
            for packet in packets { pass(packet, from: sender) }
            return .success(())
        }
        try outcome.get()
    }

    private func pass(_ packet: BusPacket, from sender: DaemonID) {
        // Iterates over the keys. Iterating over the members would copy a member's inbox for each packet.
        for id in Array(members.keys) where members[id]?.wants(packet, from: sender) == true {
            if let isDropped, isDropped(packet, sender, id) { continue }
            members[id]?.take(packet, from: sender, limit: inboxLimit)
        }
    }

    // MARK: - Delivery

    private func change<Value>(_ change: () -> Value) -> Value {
        lock.withLock {
            defer { for id in members.keys { beginDelivery(to: id) } }
            return change()
        }
    }

    private func beginDelivery(to id: DaemonID) {
        guard let member = members[id], member.hasWork, !member.isDelivering else { return }
        members[id]?.isDelivering = true
        member.queue.async { self.deliver(to: id) }
    }

    /// Delivers one event at a time on the daemon's queue.
    private func deliver(to id: DaemonID) {
        while let (event, receive) = lock.withLock({ nextEvent(for: id) }) { receive(event) }
    }

    private func nextEvent(for id: DaemonID) -> (BusEvent, @Sendable (BusEvent) -> Void)? {
        guard let event = members[id]?.next(), let receive = members[id]?.receive else {
            members[id]?.isDelivering = false
            return nil
        }
        return (event, receive)
    }
}
