import Foundation
import Server
import Sockets
import TestSupport
import Testing

@Suite struct TimeLimitTests {
    private static func withServer(
        at address: String = "127.0.0.1", _ set: (inout ServerLimits) -> Void,
        _ body: (TestServer) async throws -> Void
    ) async throws {
        var limits = ServerLimits.patient
        set(&limits)
        try await TestServer.run(at: address, limits: limits, routes: { $0.addPlain() }, body)
    }

    @Test(
        "An incomplete head is answered with 408 after its time limit",
        arguments: ["G", "GET / HTTP/1.1\r\nHost", "\r"])
    func head(part: String) async throws {
        // The limit counts from the start of the connection. On a busy machine the first request may take longer: then
        // the connection is closed without an answer, and a longer limit is tried.
        for patience in [Duration.milliseconds(300), .seconds(3), .seconds(9)] {
            do {
                return try await Self.withServer {
                    $0.headerTimeout = patience
                } _: { server in
                    let client = try await server.client()
                    #expect(try await client.request("GET", "/now/1").text == "1")
                    try await client.connection.send(part)
                    let response = try await client.readResponse(to: "GET")
                    #expect(response.status == 408)
                    #expect(!response.keepsConnection)
                    try await client.expectClosed()
                    #expect(await server.application.counters().timeouts == [.header: 1])
                }
            } catch ClientFailure.ended where patience < .seconds(9) {}
        }
    }

    @Test("An incomplete body is answered with 408 after its time limit")
    func body() async throws {
        try await Self.withServer {
            $0.bodyTimeout = .milliseconds(50)
        } _: { server in
            let client = try await server.client()
            try await client.sendHead("POST", "/echo", headers: ["Content-Length": "5"], body: Array("four".utf8))
            #expect(try await client.readResponse().status == 408)
            try await client.expectClosed()
            #expect(await server.application.counters().timeouts == [.body: 1])
        }
    }

    @Test("A new connection without a request is closed silently", arguments: ["", "\r\n"])
    func firstRequest(bytes: String) async throws {
        try await Self.withServer {
            $0.headerTimeout = .milliseconds(50)
        } _: { server in
            let connection = try await server.connection()
            try await connection.send(bytes)
            try await connection.expectClosed()
            let counters = await server.application.counters()
            #expect(counters.responses == [:] && counters.timeouts == [.header: 1])
        }
    }

    @Test("An unused persistent connection is closed silently")
    func keepAlive() async throws {
        try await Self.withServer {
            $0.keepAliveTimeout = .milliseconds(50)
        } _: { server in
            let client = try await server.client()
            #expect(try await client.request("GET", "/later/1").text == "1")
            try await client.expectClosed()
            await client.close()
            try await server.untilConnections(0)
            #expect(await server.application.counters().timeouts == [.keepAlive: 1])
        }
    }

    @Test("The head of a later request has its own time limit")
    func furtherHead() async throws {
        // The first byte must come within the limit. On a busy machine that may need a longer limit.
        for patience in [Duration.milliseconds(200), .seconds(2), .seconds(9)] {
            do {
                return try await Self.withServer {
                    $0.keepAliveTimeout = patience
                } _: { server in
                    let client = try await server.client()
                    #expect(try await client.request("GET", "/now/1").text == "1")
                    try await client.connection.send("G")
                    let other = try await server.client()
                    #expect(try await other.request("GET", "/now/2").text == "2")
                    // By now the first client's idle time between two requests would be over too.
                    try await other.expectClosed()
                    try await client.connection.send("ET /now/3 HTTP/1.1\r\nHost: x\r\n\r\n")
                    #expect(try await client.readResponse(to: "GET").text == "3")
                }
            } catch is ClientFailure where patience < .seconds(9) {}
        }
    }

    @Test("A handler has no time limit of the connection")
    func slowHandler() async throws {
        var limits = ServerLimits.patient
        limits.bodyTimeout = .milliseconds(20)
        let passed = EventRecorder<Int>()
        try await TestServer.run(limits: limits) { routes in
            routes.post("held") { request in
                request.loop.submit { $0.schedule(after: .milliseconds(80)) { passed.append(1) } }
                try await passed.next("the timer")
                return .text("done")
            }
        } _: { server in
            let response = try await HTTPTestClient.request(at: server.endpoint, "POST", "/held", body: [1])
            #expect(response.text == "done")
        }
    }

    @Test("A peer that takes no responses is disconnected, whatever they are", arguments: [true, false])
    func unreadAnswers(last: Bool) async throws {
        try await Self.withServer(at: "/tmp/ls-unread-\(UUID().uuidString)") {
            $0.writeTimeout = .milliseconds(50)
        } _: { server in
            let connection = try await server.connection()
            let option = last ? "Connection: close\r\n" : ""
            try await connection.send("GET /big?size=1000000 HTTP/1.1\r\nHost: x\r\n\(option)\r\n")
            try await server.until("the answer") { $0.responses[200] == 1 }
            try await server.untilConnections(0)
            #expect(try await connection.receiveToEnd().count < 1_000_000)
            if !last { #expect(await server.application.counters().timeouts == [.write: 1]) }
        }
    }
}
