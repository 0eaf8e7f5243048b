/// An HTTP/1.1 client on one connection. `request` is one exchange; `sendRequest` and `readResponse` are its halves,
/// for pipelining. It never reconnects, so tests notice a connection that the server closed.
package actor HTTPTestClient {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        ClientExecutor.shared.asUnownedSerialExecutor()
    }

    /// The connection, for sending any bytes. Requests sent directly on it are answered to `readResponse(to:)`.
    package nonisolated let connection: RawConnection
    /// The methods of the requests whose responses are outstanding, oldest first. The response to HEAD has no body.
    private var outstanding: [String] = []

    package init(over connection: RawConnection) {
        self.connection = connection
    }

    package static func connect(to endpoint: ClientEndpoint, within allowed: Duration = Deadline.standard)
        async throws -> HTTPTestClient
    {
        HTTPTestClient(over: try await RawConnection.connect(to: endpoint, within: allowed))
    }

    /// Sends one request on a new connection, which is closed afterwards.
    package static func request(
        at endpoint: ClientEndpoint, _ method: String, _ target: String, headers: TestHeaders = [:],
        body: [UInt8]? = nil, json: TestJSON? = nil, within allowed: Duration = Deadline.standard
    ) async throws -> TestResponse {
        let client = try await connect(to: endpoint, within: allowed)
        let response = try await client.request(
            method, target, headers: headers, body: body, json: json, within: allowed)
        await client.close()
        return response
    }

    /// Sends a request and reads its response. `json` takes precedence over `body`. Adds `Host`, and `Content-Length`
    /// for a body, unless `headers` has them (or `Transfer-Encoding`). Everything else is sent as given.
    package func request(
        _ method: String, _ target: String, headers: TestHeaders = [:], body: [UInt8]? = nil, json: TestJSON? = nil,
        within allowed: Duration = Deadline.standard
    ) async throws -> TestResponse {
        try await sendRequest(method, target, headers: headers, body: body, json: json, within: allowed)
        let response = try await readResponse(within: allowed)
        Evidence.note { "\(method) \(target): \(response.status) \(response.text)" }
        return response
    }

    /// Sends a request and doesn't wait for its response.
    package func sendRequest(
        _ method: String, _ target: String, headers: TestHeaders = [:], body: [UInt8]? = nil, json: TestJSON? = nil,
        within allowed: Duration = Deadline.standard
    ) async throws {
        var headers = headers
        let body = try json?.encoded() ?? body
        if json != nil, headers["Content-Type"] == nil { headers.append("Content-Type", "application/json") }
        if let body, headers["Content-Length"] == nil, headers["Transfer-Encoding"] == nil {
            headers.append("Content-Length", "\(body.count)")
        }
        try await sendHead(method, target, headers: headers, body: body ?? [], within: allowed)
    }

    /// Sends a head as it is, with the first bytes of the body, if any. This is for bodies that come later or never:
    /// `Expect: 100-continue`, chunks. Send the rest with `connection.send`.
    package func sendHead(
        _ method: String, _ target: String, headers: TestHeaders, body: [UInt8] = [],
        within allowed: Duration = Deadline.standard
    ) async throws {
        outstanding.append(method)
        try await connection.send(
            requestHead(method, target, headers: headers, host: connection.endpoint.authority) + body, within: allowed)
    }

    /// Reads the response to the oldest unanswered request. Records the statuses of interim responses in it.
    package func readResponse(within allowed: Duration = Deadline.standard) async throws -> TestResponse {
        guard !outstanding.isEmpty else { throw ClientFailure.misuse("no request is outstanding") }
        return try await readResponse(to: outstanding.removeFirst(), within: allowed)
    }

    /// Reads a response to a request that was sent with `connection.send`.
    package func readResponse(to method: String, within allowed: Duration = Deadline.standard) async throws
        -> TestResponse
    {
        var interim: [Int] = []
        var response = try await readHead(within: allowed)
        while response.status < 200, response.status != 101 {
            interim.append(response.status)
            response = try await readHead(within: allowed)
        }
        response.interimStatuses = interim
        var body = ResponseBodyReader(of: response, to: method)
        while let piece = try await body.next(from: connection, within: allowed) { response.body += piece }
        if response.status >= 400 { MessageValidation.refusalValidator?(response.status, response.body) }
        return response
    }

    /// Reads one head and nothing after it, such as the `100 Continue` before a body, or the head of a stream.
    package func readHead(within allowed: Duration = Deadline.standard) async throws -> TestResponse {
        try ResponseHeadParser.parse(try await connection.receiveUntil("\r\n\r\n", within: allowed))
    }

    package func expectClosed(within allowed: Duration = Deadline.standard) async throws {
        try await connection.expectClosed(within: allowed)
    }

    package func close() async { await connection.close() }
}

/// Returns a request's head. `Host` comes first unless `headers` has one.
func requestHead(_ method: String, _ target: String, headers: TestHeaders, host: String) -> [UInt8] {
    var head = "\(method) \(target) HTTP/1.1\r\n"
    if headers["Host"] == nil { head += "Host: \(host)\r\n" }
    for field in headers.fields { head += "\(field.name): \(field.value)\r\n" }
    return Array((head + "\r\n").utf8)
}
