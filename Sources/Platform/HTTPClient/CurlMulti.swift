import CCurl
import Dispatch

/// libcurl's multi handle, driven by events. One ``SocketPoller`` watches the sockets, and one timer the time limits.
/// The object is used only on its queue.
final class CurlMulti {
    /// The maximum number of unused handles that are kept for later requests.
    private static let idleHandles = 64

    private let library: CurlLibrary
    private let handle: UnsafeMutableRawPointer
    private let poller: SocketPoller
    private let timer: any DispatchSourceTimer
    private var idle: [UnsafeMutableRawPointer] = []

    enum Wake: Sendable {
        case sockets, timer
    }

    /// Returns `nil` if memory or descriptors are exhausted.
    ///
    /// - Parameters:
    ///   - maxConnections: The maximum number of idle connections that are kept, to all hosts together.
    ///   - wake: Called on `queue` when there is work. The caller then has to call ``work(_:)``.
    init?(
        library: CurlLibrary, maxConnectionsPerHost: Int, maxConnections: Int, queue: DispatchQueue,
        wake: @escaping @Sendable (Wake) -> Void
    ) {
        guard let poller = SocketPoller(queue: queue, handler: { wake(.sockets) }), let handle = library.multiInit()
        else { return nil }
        self.library = library
        self.handle = handle
        self.poller = poller
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { wake(.timer) }
        timer.activate()
        let this = Unmanaged.passUnretained(self).toOpaque()
        let set = library.multiSet
        let settings = [
            curl_multi_set_pointer(set, handle, CURLMOPT_SOCKETDATA, this),
            curl_multi_set_socket_callback(set, handle) { _, socket, what, multi, _ in
                CurlMulti.at(multi)?.watch(socket, what)
                return 0
            },
            curl_multi_set_pointer(set, handle, CURLMOPT_TIMERDATA, this),
            curl_multi_set_timer_callback(set, handle) { _, milliseconds, multi in
                CurlMulti.at(multi)?.setTimer(milliseconds)
                return 0
            },
            curl_multi_set_long(set, handle, CURLMOPT_PIPELINING, CCURLPIPE_MULTIPLEX),
            curl_multi_set_long(set, handle, CURLMOPT_MAX_CONCURRENT_STREAMS, 1000),
            // The default would be four times the number of requests in flight.
            curl_multi_set_long(set, handle, CURLMOPT_MAXCONNECTS, maxConnections),
            curl_multi_set_long(set, handle, CURLMOPT_MAX_HOST_CONNECTIONS, maxConnectionsPerHost),
        ]
        guard settings.allSatisfy({ $0 == CURLM_OK }) else { return nil }
    }

    deinit {
        timer.cancel()
        // While libcurl closes its sockets, its callbacks must not reach this object.
        _ = curl_multi_set_socket_callback(library.multiSet, handle, nil)
        _ = curl_multi_set_timer_callback(library.multiSet, handle, nil)
        for easy in idle { library.easyCleanup(easy) }
        _ = library.multiCleanup(handle)
    }

    private static func at(_ pointer: UnsafeMutableRawPointer?) -> CurlMulti? {
        pointer.map { Unmanaged<CurlMulti>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Transfers

    /// Returns a handle for a request, or `nil` if memory is exhausted. Return the handle with `recycle`.
    func makeHandle() -> UnsafeMutableRawPointer? {
        idle.popLast() ?? library.easyInit()
    }

    /// - Returns: Whether libcurl accepts the handle.
    func add(_ easy: UnsafeMutableRawPointer) -> Bool {
        library.multiAdd(handle, easy) == CURLM_OK
    }

    /// Takes back the handle of a request that has ended or has to end. It is possible that the handle wasn't added
    /// yet.
    func recycle(_ easy: UnsafeMutableRawPointer) {
        _ = library.multiRemove(handle, easy)
        guard idle.count < Self.idleHandles else { return library.easyCleanup(easy) }
        library.easyReset(easy)
        idle.append(easy)
    }

    /// Lets libcurl do all the work that is possible now.
    ///
    /// - Returns: The transfers that have ended.
    func work(_ wake: Wake) -> [(easy: UnsafeMutableRawPointer, outcome: CURLcode)] {
        switch wake {
        case .timer:
            act(on: CCURL_SOCKET_TIMEOUT, 0)
        case .sockets:
            for event in poller.ready() {
                act(
                    on: event.socket,
                    (event.read ? CCURL_CSELECT_IN : 0) | (event.write ? CCURL_CSELECT_OUT : 0)
                        | (event.error ? CCURL_CSELECT_ERR : 0))
            }
        }
        var ended: [(UnsafeMutableRawPointer, CURLcode)] = []
        var left: Int32 = 0
        while let message = library.multiInfoRead(handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            ended.append((easy, message.pointee.data.result))
        }
        return ended
    }

    /// Lets libcurl work on a socket. Errors of this call are ignored, because libcurl also reports them as errors of
    /// the transfers.
    private func act(on socket: Int32, _ events: Int32) {
        var running: Int32 = 0
        _ = library.multiSocketAction(handle, socket, events, &running)
    }

    // MARK: Requests of libcurl

    private func watch(_ socket: Int32, _ what: Int32) {
        let isKnown =
            switch what {
            case CCURL_POLL_IN: poller.watch(socket, read: true, write: false)
            case CCURL_POLL_OUT: poller.watch(socket, read: false, write: true)
            case CCURL_POLL_INOUT: poller.watch(socket, read: true, write: true)
            default: false
            }
        // If the kernel refuses to watch a socket, its transfer ends with a timeout.
        if !isKnown { poller.remove(socket) }
    }

    private func setTimer(_ milliseconds: Int) {
        if milliseconds < 0 {
            timer.schedule(deadline: .distantFuture)
        } else {
            timer.schedule(deadline: .now() + .milliseconds(milliseconds), leeway: .milliseconds(1))
        }
    }
}
