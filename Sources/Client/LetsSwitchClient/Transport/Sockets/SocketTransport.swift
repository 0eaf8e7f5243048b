#if canImport(Glibc)
    import Basics
    import Wire

    /// The transport with this project's sockets and parsers. Each request, WebSocket and stream has its own
    /// connection.
    struct SocketTransport: Transport {
        /// The maximum number of bytes in the body of an answer that is read as a whole.
        private static let bodyLimit = 1 << 20

        let server: ServerAddress
        /// A PEM file with certificate authorities that replace the system's.
        var authorities: String?
        /// The time limit for the head of an answer. The body has the same limit again.
        var exchangeLimit = Duration.seconds(30)
        /// The maximum number of bytes of a message. The longest messages of this server are lists of 32 KiB, but other
        /// servers may send more.
        var maxMessageBytes = 1 << 20

        func exchange(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
            let response = try await respond(to: request, bodyLimit: Self.bodyLimit)
            return try await withLimit(response.connection) { () async throws(ClientError) in
                try await response.collect()
            }
        }

        func eventStream(_ request: ClientRequest) async throws(ClientError) -> any Link {
            let response = try await respond(to: request, bodyLimit: .max)
            let type = response.head.value("content-type") ?? ""
            guard response.head.status == 200, type.hasPrefix("text/event-stream") else {
                throw try await refusal(response)
            }
            return EventStreamLink(response)
        }

        func webSocket(
            _ request: ClientRequest, subprotocols: [String]
        ) async throws(ClientError) -> any Link {
            let handshake = WebSocketClientHandshake(subprotocols: subprotocols)
            let bytes = handshake.request(
                server.path + request.target, host: server.authority, fields: request.fields.map(\.wire))
            let response = try await respond(bytes, bodyLimit: Self.bodyLimit)
            guard response.head.status == 101 else { throw try await refusal(response) }
            do {
                _ = try handshake.accept(response.wireHead)
            } catch {
                throw .garbled(error.reason)
            }
            return WebSocketLink(
                response.connection, received: await response.takeRest(), maxMessageBytes: maxMessageBytes)
        }

        private func refusal(_ response: StreamedResponse) async throws(ClientError) -> ClientError {
            let answer = try await withLimit(response.connection) { () async throws(ClientError) in
                try await response.collect(atMost: Self.bodyLimit)
            }
            return .refused(ServerRefusal(answer))
        }

        private func respond(
            to request: ClientRequest, bodyLimit: Int
        ) async throws(ClientError) -> StreamedResponse {
            let fields = request.fields.map(\.wire) + [HTTPField("Connection", "close")]
            return try await respond(
                HTTPRequestEncoder.encode(
                    request.method, server.path + request.target, host: server.authority, fields: fields,
                    body: request.body), bodyLimit: bodyLimit)
        }

        private func respond(_ request: [UInt8], bodyLimit: Int) async throws(ClientError) -> StreamedResponse {
            let connection = try await SocketConnection.dial(server, authorities: authorities)
            return try await withLimit(connection) { () async throws(ClientError) in
                try await connection.send(request)
                return try await StreamedResponse(connection, bodyLimit: bodyLimit)
            }
        }

        private enum Ending { case done, late }

        /// Performs `work`, and drops the connection at the time limit. The error is `unreachable`, even if the server
        /// closes the connection before the answer is complete: an HTTP answer has no close code.
        private func withLimit<Value: Sendable>(
            _ connection: SocketConnection, _ work: () async throws(ClientError) -> Value
        ) async throws(ClientError) -> Value {
            // The limit may pass at the moment when the work ends. The first of the two decides whether the connection
            // is dropped or returned.
            let ending = Locked<Ending?>(nil)
            let result = await withTimeout(exchangeLimit) { () async -> Result<Value, ClientError> in
                do throws(ClientError) { return .success(try await work()) } catch { return .failure(error) }
            } onTimeout: {
                let isLate = ending.withLock { ending in
                    ending = ending ?? .late
                    return ending == .late
                }
                if isLate { connection.drop() }
            }
            let isLate = ending.withLock { ending in
                ending = ending ?? .done
                return ending == .late
            }
            if isLate, !Task.isCancelled { throw .unreachable("no answer in time") }
            if case .failure(.closed(.lost, let reason)) = result {
                throw .unreachable(reason.isEmpty ? "the server closed the connection without an answer" : reason)
            }
            return try result.get()
        }
    }

    extension ClientField {
        fileprivate var wire: HTTPField { HTTPField(name, value) }
    }
#endif
