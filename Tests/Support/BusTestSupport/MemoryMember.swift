import Dispatch
import FoundationEssentials
import Rooms

extension MemoryHub {
    /// A daemon at the hub, with its receiver and its waiting packets.
    struct Member {
        private enum State {
            case disconnected
            case connected
        }

        let id: DaemonID
        let receive: @Sendable (BusEvent) -> Void
        /// The queue on which the receiver is called.
        let queue = DispatchQueue(label: "memory-bus")
        var isHeld = false
        var isDelivering = false
        private var state = State.disconnected
        private var inbox: [BusEvent] = []
        /// The packets before it have been delivered.
        private var firstWaiting = 0

        init(_ id: DaemonID, receive: @escaping @Sendable (BusEvent) -> Void) {
            self.id = id
            self.receive = receive
        }

        var isConnected: Bool { state == .connected }

        var hasWork: Bool { !isHeld && firstWaiting < inbox.count }

        mutating func connect() {
            guard state == .disconnected else { return }
            state = .connected
            inbox.append(.connected)
        }

        /// Reports the loss of the connection, even if the member was never connected.
        mutating func lose(_ message: String) {
            state = .disconnected
            inbox = inbox.dropFirst(firstWaiting).filter { !$0.isPacket } + [.lost(message: message)]
            firstWaiting = 0
        }

        func wants(_ packet: BusPacket, from sender: DaemonID) -> Bool {
            guard isConnected else { return false }
            return switch packet.destination {
            case .everyDaemon: sender != id
            case .daemon(let receiver): receiver == id
            case .room(_, let receivers): sender != id && receivers.contains(id)
            }
        }

        mutating func take(_ packet: BusPacket, from sender: DaemonID, limit: Int) {
            if inbox.count - firstWaiting >= limit, inbox[firstWaiting].isPacket { firstWaiting += 1 }
            inbox.append(.received(from: sender, packet.bytes))
            compact()
        }

        mutating func next() -> BusEvent? {
            guard hasWork else { return nil }
            defer { firstWaiting += 1 }
            return inbox[firstWaiting]
        }

        /// Removes delivered packets many at a time, so that an event costs no shift.
        private mutating func compact() {
            guard firstWaiting > 1_000, firstWaiting > inbox.count / 2 else { return }
            inbox.removeFirst(firstWaiting)
            firstWaiting = 0
        }
    }
}

extension BusEvent {
    fileprivate var isPacket: Bool {
        if case .received = self { true } else { false }
    }
}
