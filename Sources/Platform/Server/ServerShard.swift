import Basics
import Glibc
package import Sockets
import Wire

/// The server's state on one event loop: counters, the clock for `Date`, and the connections that wait for a response.
package final class ServerShard {
    package let loop: EventLoop
    package var counters = LoopCounters()
    let application: Application
    /// ``ServerLimits/pingInterval`` in nanoseconds. Each message adds this number to the current time.
    let pingInterval: UInt64
    /// ``ServerLimits/messageRate``.
    let messageRate: RateLimit
    /// The rate of fragments. It is ``ServerLimits/fragmentsPerMessage`` times the message rate, so a fragment counts
    /// as 1/16 of a message.
    let fragmentRate: RateLimit
    /// The zlib memory shared by WebSockets of this loop without zlib memory of their own.
    let deflatePool = WebSocketDeflatePool()
    let handshakeDigest = HandshakeDigest()
    /// The certificate for new connections; `nil` without TLS.
    var tls: TLSContext?
    /// Whether the server is stopping. Responses then close their connections.
    var isStopping = false
    /// The listening sockets of this loop.
    var listeners: [(socket: ListeningSocket, audience: Audience)] = []
    /// The index of the loop that got the latest connection.
    var dealt = 0

    /// The connections whose handlers run in a task. The task has only the ticket, because the connection belongs to
    /// this loop and may be closed before the response comes.
    private var awaiting: [Ticket: HTTPConnection] = [:]
    private var lastTicket: UInt64 = 0
    private var dateSecond = 0
    private var dateLine: [UInt8] = []

    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// A ping without data, shared by all peers.
    let pingFrame: SharedBytes

    init(_ application: Application, on loop: EventLoop) {
        self.application = application
        self.loop = loop
        tls = application.firstTLSContext
        var ping: [UInt8] = []
        WebSocketFrameEncoder.encode(.ping, [], into: &ping)
        pingFrame = SharedBytes(ping)
        // The bound ensures that the sum with any clock time fits into 64 bits.
        pingInterval = min(application.limits.pingInterval.wholeNanoseconds, .max / 2)
        let rate = application.limits.messageRate
        messageRate = RateLimit(perSecond: rate, burst: 2 * rate)
        let fragments = rate * ServerLimits.fragmentsPerMessage
        fragmentRate = RateLimit(perSecond: fragments, burst: 2 * fragments)
    }

    // MARK: Hosts

    /// Counts a request for a host name that this server doesn't have, and reports it at most once a minute.
    func refusedHost(of head: HTTPRequestHead, at now: MonotonicTime) {
        counters.refusedHosts += 1
        guard let host = head.host, application.mayReportRefusedHost(at: now) else { return }
        application.edge.hostRefused?(host)
    }

    // MARK: Pending answers

    func ticket(for connection: HTTPConnection) -> Ticket {
        lastTicket += 1
        let ticket = Ticket(number: lastTicket)
        awaiting[ticket] = connection
        return ticket
    }

    /// Returns the connection of a ticket, if it still exists. A ticket can be used only once.
    func redeem(_ ticket: Ticket) -> HTTPConnection? {
        awaiting.removeValue(forKey: ticket)
    }

    func discard(_ ticket: Ticket) {
        awaiting[ticket] = nil
    }

    /// The header line `Strict-Transport-Security` (RFC 6797 §6.1) for responses through TLS. It is empty if the field
    /// is switched off.
    private(set) lazy var transportSecurityField: [UInt8] = {
        let seconds = application.edge.strictTransportSeconds
        return seconds > 0 ? Array("Strict-Transport-Security: max-age=\(seconds)\r\n".utf8) : []
    }()

    /// The header line `Date` (RFC 9110 §6.6.1). It is made once a second.
    var dateField: [UInt8] {
        let second = time(nil)
        if second != dateSecond {
            dateSecond = second
            dateLine = Array("Date: ".utf8) + HTTPDate.format(epochSeconds: Int64(second)) + Array("\r\n".utf8)
        }
        return dateLine
    }
}
