import Basics
import Sockets
import TestSupport

/// An event that a socket reported to its handler.
enum SocketEvent: Sendable, Equatable {
    case received([UInt8])
    case ended
    case drained
    case deadlinePassed(MonotonicTime)
    case closed(StreamSocket.CloseCause)
    case serverStops
}

/// Records the events that it receives.
final class RecordingHandler: StreamSocketHandler {
    let events: EventRecorder<SocketEvent>

    init(_ events: EventRecorder<SocketEvent>) {
        self.events = events
    }

    func socket(_ socket: StreamSocket, received bytes: UnsafeMutableRawBufferPointer) {
        events.append(.received(Array(bytes)))
    }

    func socketReceivedEnd(_ socket: StreamSocket) { events.append(.ended) }

    func socketDidDrain(_ socket: StreamSocket) { events.append(.drained) }

    func socketDeadlinePassed(_ socket: StreamSocket) { events.append(.deadlinePassed(.now())) }

    func socketDidClose(_ socket: StreamSocket, because cause: StreamSocket.CloseCause) {
        events.append(.closed(cause))
    }

    func serverStops(_ socket: StreamSocket) { events.append(.serverStops) }
}
