#if canImport(Glibc)
    import Wire

    /// A response whose head has arrived. Its body is read in parts, by one reader at a time.
    actor StreamedResponse {
        nonisolated let connection: SocketConnection
        nonisolated let head: ClientResponse
        nonisolated let wireHead: HTTPResponseHead
        private var parser: HTTPResponseParser
        private var unread: [UInt8]
        private var hasEnded = false

        /// Reads the head of the response.
        ///
        /// - Parameter bodyLimit: The maximum number of bytes of the body.
        init(_ connection: SocketConnection, bodyLimit: Int) async throws(ClientError) {
            var parser = HTTPResponseParser(limits: HTTPLimits(bodyBytes: bodyLimit))
            var unread: [UInt8] = []
            var wireHead: HTTPResponseHead?
            while wireHead == nil {
                guard let bytes = try await connection.receive() else {
                    throw .unreachable("the server closed the connection without an answer")
                }
                unread = bytes
                if case .head(let head)? = try Self.next(&parser, &unread) { wireHead = head }
            }
            guard let wireHead else { throw .garbled("it has no HTTP head") }
            self.connection = connection
            self.wireHead = wireHead
            self.parser = parser
            self.unread = unread
            head = ClientResponse(
                status: wireHead.status.code,
                fields: wireHead.fields.map { ClientField($0.name.lowercased(), $0.value) })
        }

        private enum Event {
            case head(HTTPResponseHead)
            case body([UInt8])
            case end
        }

        private static func next(
            _ parser: inout HTTPResponseParser, _ bytes: inout [UInt8]
        ) throws(ClientError) -> Event? {
            var event: Result<Event?, HTTPResponseError> = .success(nil)
            let rest = bytes.withUnsafeBytes { input -> Int in
                var input = input
                event = Result { () throws(HTTPResponseError) in
                    switch try parser.next(&input) {
                    case .head(let head): .head(head)
                    case .body(let part): .body(Array(part))
                    case .end: .end
                    case nil: nil
                    }
                }
                return input.count
            }
            bytes.removeFirst(bytes.count - rest)
            switch event {
            case .success(let event): return event
            case .failure(let error): throw .garbled("\(error)")
            }
        }

        /// Returns the next part of the body, or `nil` at the end of the body.
        func next() async throws(ClientError) -> [UInt8]? {
            while !hasEnded {
                switch try Self.next(&parser, &unread) {
                case .body(let bytes): return bytes
                case .end: hasEnded = true
                case .head: throw .garbled("it has two HTTP heads")
                case nil:
                    guard let bytes = try await connection.receive() else {
                        hasEnded = true
                        do { try parser.inputEnded() } catch {
                            throw .closed(.lost, reason: "the answer is incomplete")
                        }
                        return nil
                    }
                    unread = bytes
                }
            }
            return nil
        }

        /// Returns the response with its complete body.
        func collect(atMost limit: Int = .max) async throws(ClientError) -> ClientResponse {
            var response = head
            while let part = try await next() {
                guard response.body.count + part.count <= limit else {
                    throw .garbled("it has more than \(limit) bytes")
                }
                response.body += part
            }
            connection.drop()
            return response
        }

        /// Returns the bytes after the head, which belong to the protocol that the connection was upgraded to.
        func takeRest() -> [UInt8] {
            defer { unread = [] }
            return unread
        }
    }
#endif
