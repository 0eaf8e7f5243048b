import CLibpq
import Glibc

/// Reading from a connection whose socket Dispatch has reported.
enum ServerInput {
    /// Reads what has come; false when the connection is lost.
    ///
    /// Dispatch reports a hang-up (`EPOLLHUP`) once, and never again if the handler leaves anything unread: a server's
    /// farewell and its end of file often come together, so after a hang-up all of it is read.
    static func consume(_ connection: OpaquePointer) -> Bool {
        repeat {
            guard PQconsumeInput(connection) == 1 else { return false }
        } while hasHungUp(PQsocket(connection))
        return true
    }

    /// Whether something has come that was not read yet.
    static func isWaiting(_ connection: OpaquePointer) -> Bool {
        var poller = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, 0) > 0 && poller.revents & Int16(POLLIN) != 0
    }

    private static func hasHungUp(_ socket: Int32) -> Bool {
        var poller = pollfd(fd: socket, events: 0, revents: 0)
        return poll(&poller, 1, 0) > 0 && poller.revents & Int16(POLLHUP | POLLERR) != 0
    }
}
