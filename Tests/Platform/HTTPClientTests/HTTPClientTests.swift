import Glibc
import Server
import TestSupport
import Testing
import Wire

@testable import HTTPClient

/// Requests to other servers.
@Suite struct HTTPClientTests {
    private func client(_ change: (inout HTTPClient.Configuration) -> Void = { _ in }) -> HTTPClient {
        var configuration = HTTPClient.Configuration(agent: "tests")
        configuration.allowsPrivateAddresses = true
        configuration.timeout = .seconds(60)
        configuration.connectTimeout = .seconds(60)
        change(&configuration)
        return HTTPClient(configuration)
    }

    /// Sends a request and shuts the client down. Returns the error.
    private func error(_ client: HTTPClient, _ request: OutgoingRequest) async -> HTTPClientError? {
        do throws(HTTPClientError) {
            _ = try await client.send(request)
            await client.shutdown()
            return nil
        } catch {
            await client.shutdown()
            return error
        }
    }

    @Test("A request and its response arrive unchanged")
    func exchange() async throws {
        try await HTTPRecorder.run(
            answer: HTTPRecorder.Answer { _ in
                Response(.created, headers: [HTTPField("X-Answer", "yes")], body: .bytes(Array("done".utf8)))
            }
        ) { recorder in
            let client = client()
            let body = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }
            let answer = try await client.send(
                OutgoingRequest(
                    .post, recorder.url("/hook/a?b=c"), headers: [HTTPField("X-Test", "a: b"), HTTPField("Topic", "")],
                    body: body))
            #expect(answer.status == 201)
            #expect(answer.header("x-answer") == "yes")
            #expect(answer.body == Array("done".utf8))
            let asked = try await recorder.requests.next()
            #expect(asked.method == "POST")
            #expect(asked.target == "/hook/a?b=c")
            #expect(asked.body == body)
            #expect(asked.headers["x-test"] == "a: b")
            #expect(asked.headers["topic"] == "")
            #expect(asked.headers["user-agent"] == "tests")
            // No content type was given, so none is sent.
            #expect(asked.headers["content-type"] == nil)
            let got = try await client.send(OutgoingRequest(.get, recorder.url("/get")))
            #expect(got.status == 201)
            #expect(try await recorder.requests.next().method == "GET")
            await client.shutdown()
        }
    }

    @Test("A redirect is returned as a response")
    func redirect() async throws {
        try await HTTPRecorder.run(
            answer: HTTPRecorder.Answer { _ in
                Response(HTTPStatus(code: 302), headers: [HTTPField("Location", "/get")])
            }
        ) { recorder in
            let client = client()
            let answer = try await client.send(OutgoingRequest(.post, recorder.url("/hook")))
            #expect(answer.status == 302)
            #expect(recorder.requests.all.count == 1)
            await client.shutdown()
        }
    }

    @Test("Only the beginning of a long body is read")
    func longBody() async throws {
        try await HTTPRecorder.run(
            answer: HTTPRecorder.Answer { _ in
                Response(body: .bytes([UInt8](repeating: 7, count: 500_000)))
            }
        ) { recorder in
            let client = client { $0.maxBodyBytes = 1000 }
            let answer = try await client.send(OutgoingRequest(.post, recorder.url("/hook")))
            #expect(answer.status == 200)
            #expect(answer.body == [UInt8](repeating: 7, count: 1000))
            await client.shutdown()
        }
    }

    @Test("Concurrent requests get their own responses, with a limited number in flight")
    func many() async throws {
        try await HTTPRecorder.run(answer: HTTPRecorder.Answer { Response(body: .bytes($0.body)) }) { recorder in
            let client = client { $0.maxInFlight = 7 }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    let body = Array("\(number)".utf8)
                    group.addTask {
                        try await client.send(OutgoingRequest(.post, recorder.url("/hook"), body: body)).body == body
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            await client.shutdown()
        }
    }

    @Test("Requests beyond the waiting limit are refused at once")
    func crowded() async throws {
        let gate = AsyncStream<Void>.makeStream()
        try await HTTPRecorder.run(
            answer: HTTPRecorder.Answer { _ in
                for await _ in gate.stream {}
                return Response()
            }
        ) { recorder in
            let client = client {
                $0.maxInFlight = 1
                $0.maxWaiting = 1
            }
            let first = Task { try await client.send(OutgoingRequest(.post, recorder.url("/hook"))) }
            try await recorder.requests.next()
            // A cancelled request frees its place.
            for _ in 0..<5 {
                let cancelled = Task { try await client.send(OutgoingRequest(.post, recorder.url("/hook"))) }
                cancelled.cancel()
                await #expect(throws: HTTPClientError.cancelled) { try await cancelled.value }
            }
            // Of these two, one waits, and the other exceeds the limit.
            let outcomes = await withTaskGroup(of: HTTPClientError?.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        do throws(HTTPClientError) {
                            _ = try await client.send(OutgoingRequest(.post, recorder.url("/hook")))
                            return nil
                        } catch {
                            gate.continuation.finish()
                            return error
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.compactMap(\.self) == [.crowded])
            #expect(try await first.value.status == 200)
            await client.shutdown()
        }
    }

    @Test("A silent server times out")
    func waits() async throws {
        let gate = AsyncStream<Void>.makeStream()
        try await HTTPRecorder.run(
            answer: HTTPRecorder.Answer { _ in
                for await _ in gate.stream {}
                return Response()
            }
        ) { recorder in
            let request = OutgoingRequest(.post, recorder.url("/hook"))
            #expect(await error(client { $0.timeout = .milliseconds(200) }, request) == .timedOut)
            let client = client()
            let task = Task { await error(client, request) }
            try await recorder.requests.next()
            try await recorder.requests.next()
            task.cancel()
            #expect(await task.value == .cancelled)
            gate.continuation.finish()
        }
    }

    @Test("A client that is shut down ends its requests and accepts no more")
    func shutdown() async throws {
        let gate = AsyncStream<Void>.makeStream()
        try await HTTPRecorder.run(
            answer: HTTPRecorder.Answer { _ in
                for await _ in gate.stream {}
                return Response()
            }
        ) { recorder in
            let client = client()
            let request = OutgoingRequest(.post, recorder.url("/hook"))
            let task = Task { await error(client, request) }
            try await recorder.requests.next()
            await client.shutdown()
            #expect(await task.value == .cancelled)
            #expect(await error(client, request) == .cancelled)
            gate.continuation.finish()
        }
    }

    @Test("An unreachable server gives a reason")
    func unreachable() async throws {
        let url = try await HTTPRecorder.run { $0.url("/hook") }
        guard case .cannotConnect = await error(client(), OutgoingRequest(.post, url)) else {
            Issue.record("a closed port")
            return
        }
        guard case .cannotResolve = await error(client(), OutgoingRequest(.post, "http://nobody.invalid/")) else {
            Issue.record("a name that doesn't exist")
            return
        }
    }

    @Test(
        "An invalid URL is refused",
        arguments: ["", "ftp://127.0.0.1/", "file:///etc/passwd", "http://", "gopher://127.0.0.1:1/_x", "http://a b/"])
    func noURL(_ url: String) async {
        #expect(await error(client(), OutgoingRequest(.post, url)) == .invalidURL)
    }

    @Test("A field that would become two is refused")
    func injection() async {
        let request = OutgoingRequest(.post, "http://127.0.0.1:1/", headers: [HTTPField("X-Test", "a\r\nX-Evil: b")])
        guard case .failed = await error(client(), request) else {
            Issue.record("a line break in a field")
            return
        }
    }

    @Test("Private addresses are refused unless they are permitted")
    func privateAddresses() async throws {
        try await HTTPRecorder.run { recorder in
            guard case .tcp(_, let port) = recorder.endpoint else { return }
            for host in ["127.0.0.1", "localhost", "127.1", "[::ffff:127.0.0.1]", "0x7f000001", "0.0.0.0"] {
                let client = client { $0.allowsPrivateAddresses = false }
                #expect(
                    await error(client, OutgoingRequest(.post, "http://\(host):\(port)/hook")) == .privateAddress,
                    "\(host)")
            }
            #expect(recorder.requests.all.isEmpty)
        }
    }

    @Test("A certificate is accepted if its authority is trusted")
    func certificates() async throws {
        let authority = try await TestAuthority()
        let stranger = try await TestAuthority()
        try await HTTPRecorder.run(identity: try await authority.issue()) { recorder in
            let request = OutgoingRequest(.post, recorder.url("/hook", speaksTLS: true))
            let client = client { $0.caFile = authority.file }
            let answer = try await client.send(request)
            #expect(answer.status == 200)
            await client.shutdown()
            guard case .tls = await error(self.client { $0.caFile = stranger.file }, request) else {
                Issue.record("a stranger's certificate")
                return
            }
            #expect(recorder.requests.all.count == 1)
        }
    }

    @Test("A connection with a silent peer counts as broken after some seconds")
    func silence() async {
        _ = await withCheckedContinuation { continuation in
            var configuration = HTTPClient.Configuration(agent: "tests")
            configuration.allowsPrivateAddresses = true
            let transfer = Transfer(1, OutgoingRequest(.post, ""), configuration, continuation)
            let socket = transfer.openSocket(
                family: AF_INET, type: Int32(SOCK_STREAM.rawValue), protocol: Int32(IPPROTO_TCP), address: nil)
            var (value, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
            #expect(getsockopt(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &value, &length) == 0)
            #expect(value == 5000)
            #expect(close(socket) == 0)
            transfer.finish(.failure(.cancelled))
        }
    }

    @Test("A status line with a colon isn't a field")
    func statusLine() async {
        _ = await withCheckedContinuation { continuation in
            let transfer = Transfer(1, OutgoingRequest(.post, ""), .init(agent: "tests"), continuation)
            for line in [
                "HTTP/1.1 103 Early: hints", "Link: </a>", "", "HTTP/1.1 500 Error: no such thing", "X-Answer: yes", "",
            ] {
                let bytes = Array("\(line)\r\n".utf8)
                #expect(bytes.withUnsafeBytes { transfer.received(headerLine: $0) } == bytes.count)
            }
            #expect(transfer.headers == [HTTPField("X-Answer", "yes")])
            transfer.finish(.failure(.cancelled))
        }
    }

    @Test("Over HTTP/2 several requests share a connection")
    func http2() async throws {
        let authority = try await TestAuthority()
        let identity = try await authority.issue()
        try await HTTPRecorder.run(answer: HTTPRecorder.Answer { Response(body: .bytes($0.body)) }) { recorder in
            let proxy = try await HTTP2Proxy.start(
                before: recorder.endpoint, identity: identity,
                ["--frontend-http2-max-concurrent-streams=50", "--accesslog-format=$alpn from $remote_port"])
            let client = client {
                $0.version = .http2
                $0.caFile = authority.file
            }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<300 {
                    let body = Array("\(number)".utf8)
                    group.addTask {
                        try await client.send(OutgoingRequest(.post, proxy.url("/hook"), body: body)).body == body
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            await client.shutdown()
            var connections: Set<String> = []
            for _ in 0..<300 {
                connections.insert(
                    try await proxy.process.lines.next("access log") { $0.text.hasPrefix("h2 from") }.text)
            }
            // Only one connection is used at a time. On a busy machine it may end meanwhile, and is then replaced.
            #expect(connections.count <= 10)
        }
    }
}
