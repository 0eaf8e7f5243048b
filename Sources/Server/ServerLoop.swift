import Glibc
package import Sockets
import Wire

/// What the server keeps on one event loop: counters, the clock for `Date`, and the requests whose answers are awaited.
package final class ServerLoop {
    package let loop: EventLoop
    package var counters = LoopCounters()
    let application: Application
    /// ``ServerLimits/pingInterval`` in nanoseconds: it is added to the time once per message.
    let pingInterval: UInt64
    /// zlib's memory, for the WebSockets of this loop that keep none.
    let deflatePool = WebSocketDeflatePool()
    /// Set when the server goes away: answers then close their connections.
    var isStopping = false

    /// Connections whose handlers run in a task. The task knows its ticket, not the connection, which is no business
    /// of other threads and may be gone when the answer comes.
    private var awaiting: [Ticket: HTTPConnection] = [:]
    private var lastTicket: UInt64 = 0
    private var dateSecond = 0
    private var dateText = ""

    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// A ping without data, the same for every peer.
    let pingFrame: SharedBytes

    init(_ application: Application, on loop: EventLoop) {
        self.application = application
        self.loop = loop
        var ping: [UInt8] = []
        WebSocketFrameEncoder.encode(.ping, [], into: &ping)
        pingFrame = SharedBytes(ping)
        // The sum with any time of the clock's stays within 64 bits.
        pingInterval = min(application.limits.pingInterval.wholeNanoseconds, .max / 2)
    }

    // MARK: Listening

    private var listeners: [ListeningSocket] = []
    private var dealt = 0

    /// Accepts connections on this loop and deals them to all loops in turn.
    func listen(with listener: ListeningSocket, on reactor: Reactor) throws {
        try listener.start(
            on: reactor,
            accepted: { [unowned self] in deal($0, on: reactor) },
            rested: { [unowned self] _ in counters.listenerRests += 1 })
        listeners.append(listener)
    }

    private func deal(_ connection: DetachedSocket, on reactor: Reactor) {
        guard !application.isFull else {
            counters.refusedConnections += 1
            return
        }
        counters.acceptedConnections += 1
        dealt = (dealt + 1) % application.loops.count
        guard dealt != loop.index else {
            HTTPConnection(connection, on: reactor, server: self)
            return
        }
        application.loops[dealt].submit { [application] reactor in
            HTTPConnection(connection, on: reactor, server: application.server(on: reactor))
        }
    }

    func stopListening() {
        for listener in listeners { listener.close() }
        listeners = []
    }

    // MARK: Answers in the making

    func ticket(for connection: HTTPConnection) -> Ticket {
        lastTicket += 1
        let ticket = Ticket(number: lastTicket)
        awaiting[ticket] = connection
        return ticket
    }

    /// The connection that holds the ticket, unless it is gone; the ticket is spent.
    func redeem(_ ticket: Ticket) -> HTTPConnection? {
        awaiting.removeValue(forKey: ticket)
    }

    func forget(_ ticket: Ticket) {
        awaiting[ticket] = nil
    }

    /// The time of day as `Date` has it (RFC 9110 §6.6.1), made once a second.
    var date: String {
        let second = time(nil)
        if second != dateSecond {
            dateSecond = second
            dateText = String(decoding: HTTPDate.format(epochSeconds: Int64(second)), as: UTF8.self)
        }
        return dateText
    }
}
