import Basics
import Glibc
package import Sockets
import Wire

/// What the server keeps on one event loop: counters, the clock for `Date`, and the requests whose answers are awaited.
package final class ServerShard {
    package let loop: EventLoop
    package var counters = LoopCounters()
    let application: Application
    /// ``ServerLimits/pingInterval`` in nanoseconds: it is added to the time once per message.
    let pingInterval: UInt64
    /// ``ServerLimits/messageRate``.
    let messageRate: RateLimit
    /// The same allowance, out of which a fragment of a message takes less.
    let fragmentRate: RateLimit
    /// zlib's memory, for the WebSockets of this loop that keep none.
    let deflatePool = WebSocketDeflatePool()
    let handshakeDigest = HandshakeDigest()
    /// With what new connections shake hands; `nil` when nobody speaks TLS.
    var tls: TLSContext?
    /// Set when the server goes away: answers then close their connections.
    var isStopping = false
    /// What this loop accepts connections from.
    var listeners: [(socket: ListeningSocket, audience: Audience)] = []
    /// The loop that the last connection was dealt to.
    var dealt = 0

    /// Connections whose handlers run in a task. The task knows its ticket, not the connection, which is no business
    /// of other threads and may be gone when the answer comes.
    private var awaiting: [Ticket: HTTPConnection] = [:]
    private var lastTicket: UInt64 = 0
    private var dateSecond = 0
    private var dateLine: [UInt8] = []

    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// A ping without data, the same for every peer.
    let pingFrame: SharedBytes

    init(_ application: Application, on loop: EventLoop) {
        self.application = application
        self.loop = loop
        tls = application.firstTLSContext
        var ping: [UInt8] = []
        WebSocketFrameEncoder.encode(.ping, [], into: &ping)
        pingFrame = SharedBytes(ping)
        // The sum with any time of the clock's stays within 64 bits.
        pingInterval = min(application.limits.pingInterval.wholeNanoseconds, .max / 2)
        let rate = application.limits.messageRate
        messageRate = RateLimit(perSecond: rate, burst: 2 * rate)
        let fragments = rate * ServerLimits.fragmentsPerMessage
        fragmentRate = RateLimit(perSecond: fragments, burst: 2 * fragments)
    }

    // MARK: Hosts

    /// When the next refused host is told of: anybody can ask for any.
    private var refusedHostIsDue = MonotonicTime(nanoseconds: 0)

    /// Counts a request that was for another server, and tells of it now and then.
    func refusedHost(of head: HTTPRequestHead, at now: MonotonicTime) {
        counters.refusedHosts += 1
        guard now >= refusedHostIsDue, let host = head.host else { return }
        refusedHostIsDue = now + .seconds(60)
        application.edge.hostRefused?(host)
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

    /// The line of `Strict-Transport-Security` (RFC 6797 §6.1), for answers by TLS; empty when there is to be none.
    private(set) lazy var transportSecurityField: [UInt8] = {
        let seconds = application.edge.strictTransportSeconds
        return seconds > 0 ? Array("Strict-Transport-Security: max-age=\(seconds)\r\n".utf8) : []
    }()

    /// The line of `Date` (RFC 9110 §6.6.1), made once a second.
    var dateField: [UInt8] {
        let second = time(nil)
        if second != dateSecond {
            dateSecond = second
            dateLine = Array("Date: ".utf8) + HTTPDate.format(epochSeconds: Int64(second)) + Array("\r\n".utf8)
        }
        return dateLine
    }
}
