import Sockets
import Wire

/// Sends responses, to requests and to invalid input.
extension HTTPConnection {
    /// - Parameter isLast: Whether the connection ends after this response, even if the request wants to keep it.
    func answer(_ response: Response, to head: HTTPRequestHead, isLast: Bool = false) {
        // HTTP/1.0 has no chunked coding, so a stream ends with the connection.
        let isDelimited = head.version == .http11 || !response.isStream || head.method == .head
        let keepsAlive = head.isKeepAlive && isDelimited && !isLast && !server.isStopping
        server.counters.responses[response.status.code, default: 0] += 1
        var writer = ResponseWriter(response, on: server, isSecure: peer.entrance.isSecure)
        if !keepsAlive {
            writer.field("Connection", "close")
        } else if head.version == .http10 {
            writer.field("Connection", "keep-alive")
        }
        writer.share(head, with: server.application.edge.allowedOrigins)
        if case .stream(let start) = response.body {
            return stream(start, writer, to: head, keepsAlive: keepsAlive)
        }
        let content = response.content
        if !response.status.forbidsBody { writer.contentLength(content.count) }
        let sendsContent = head.method != .head && !response.status.forbidsBody
        writer.finish(content: sendsContent ? content : [])
        socket.enqueue(SharedBytes(writer.bytes))
        answered(keepsAlive: keepsAlive)
    }

    func answer(_ refusal: Abort, to head: HTTPRequestHead) {
        answer(Response(refusal), to: head)
    }

    /// Answers bytes that aren't a valid request. The connection then ends, because the beginning of the next request
    /// is unknown.
    ///
    /// - Parameter origin: The field `Origin` of the request that was refused.
    func refuse(_ abort: Abort, origin: String? = nil) {
        server.counters.responses[abort.status.code, default: 0] += 1
        let response = Response(abort)
        var writer = ResponseWriter(response, on: server, isSecure: peer.entrance.isSecure)
        writer.field("Connection", "close")
        var sendsContent = true
        if case .inBody(let head, _) = state {
            writer.share(head, with: server.application.edge.allowedOrigins)
            sendsContent = head.method != .head
        } else {
            writer.share(origin: origin, with: server.application.edge.allowedOrigins)
        }
        writer.contentLength(response.content.count)
        writer.finish(content: sendsContent ? response.content : [])
        socket.enqueue(SharedBytes(writer.bytes))
        end()
    }
}
