import Foundation
import Glibc
import Server
import Sockets
import TestSupport
import Testing
import Wire

@Suite struct LifeCycleTests {
    @Test("A drain closes connections gracefully")
    func drain() async throws {
        let (started, gate) = (EventRecorder<Int>(), EventRecorder<Int>())
        try await TestServer.run { routes in
            routes.addPlain()
            routes.get("held") { _ in
                started.append(1)
                try await gate.next("the gate")
                return .text("finished")
            }
            routes.webSocket("socket", loop: { Int($0.query("loop") ?? "") }) { _, _ in SilentPeer() }
        } _: { server in
            // Two of each kind, so that each loop has one.
            var webSockets: [WebSocketTestClient] = []
            var idle: [HTTPTestClient] = []
            var held: [HTTPTestClient] = []
            for loop in 0..<2 {
                webSockets.append(try await WebSocketTestClient.connect(to: server.endpoint, "/socket?loop=\(loop)"))
            }
            for _ in 0..<2 {
                let client = try await server.client()
                #expect(try await client.request("GET", "/").text == "root")
                idle.append(client)
            }
            for _ in 0..<2 {
                let client = try await server.client()
                try await client.sendRequest("GET", "/held")
                try await started.next("the handler")
                held.append(client)
            }
            let begun = try await server.client()
            // Both requests arrive in one read, so the second has begun when the first is answered.
            try await begun.connection.send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /now/begun HTTP/1.1\r\n")
            #expect(try await begun.readResponse(to: "GET").text == "root")
            try await server.untilConnections(7)

            async let drained = server.application.drain(within: Deadline.standard)
            for client in webSockets { #expect(try await client.expectClose(1001) == "the server is stopping") }
            for client in idle { try await client.expectClosed() }
            do {
                _ = try await server.connection()
                Issue.record("a new connection was taken")
            } catch {
                #expect(error as? ClientFailure == .system(call: "connect", code: ECONNREFUSED))
            }
            try await begun.connection.send("Host: x\r\n\r\n")
            let last = try await begun.readResponse(to: "GET")
            #expect(last.text == "begun")
            #expect(!last.keepsConnection)
            for client in held {
                gate.append(1)
                _ = client
            }
            for client in held {
                let response = try await client.readResponse()
                #expect(response.text == "finished")
                #expect(!response.keepsConnection)
                try await client.expectClosed()
            }
            for client in webSockets { await client.close() }
            for client in idle + held + [begun] { await client.close() }
            #expect(await drained)
            #expect(server.application.openConnections == 0)
            #expect(await server.application.counters().closedWebSockets == [1001: 2])
        }
    }

    @Test("A drain that takes too long reports the remaining connections")
    func drainTimesOut() async throws {
        let (started, gate) = (EventRecorder<Int>(), EventRecorder<Int>())
        try await TestServer.run { routes in
            routes.get("held") { _ in
                started.append(1)
                try await gate.next("the gate")
                return .text("too late")
            }
        } _: { server in
            let client = try await server.client()
            try await client.sendRequest("GET", "/held")
            try await started.next("the handler")
            #expect(await server.application.drain(within: .milliseconds(30)) == false)
            await server.application.stop()
            try await client.expectClosed()
            gate.append(1)
            #expect(server.application.openConnections == 0)
        }
    }

    @Test("A WebSocket that arrives while the server drains is closed with 1001", arguments: [0, 1])
    func lateUpgrade(loop: Int) async throws {
        let (asked, gate) = (EventRecorder<Int>(), EventRecorder<Int>())
        try await TestServer.run { routes in
            routes.webSocket(
                "socket", loop: { _ in loop },
                admit: { _, _ in
                    .unknown {
                        asked.append(1)
                        try await gate.next("the gate")
                        return { _ in SilentPeer() }
                    }
                })
        } _: { server in
            async let connected = WebSocketTestClient.connect(to: server.endpoint, "/socket")
            try await asked.next("the question")
            async let drained = server.application.drain(within: Deadline.standard)
            // The listener is closed, so the drain has begun on its loop. After one more round it has begun on all
            // loops.
            try await Self.untilRefused(server)
            _ = await server.application.counters()
            gate.append(1)
            let client = try await connected
            try await client.expectClose(1001)
            await client.close()
            #expect(await drained)
        }
    }

    private static func untilRefused(_ server: TestServer) async throws {
        let deadline = ContinuousClock.now + Deadline.standard
        while ContinuousClock.now < deadline {
            guard let connection = try? await server.connection() else { return }
            await connection.close()
        }
        throw ClientFailure.violation("connections are still taken")
    }

    @Test("Connections above the limit are closed at once")
    func maxConnections() async throws {
        var limits = ServerLimits.patient
        limits.maxConnections = 3
        try await TestServer.run(limits: limits) {
            $0.addPlain()
        } _: { server in
            var clients: [HTTPTestClient] = []
            for _ in 0..<3 {
                let client = try await server.client()
                #expect(try await client.request("GET", "/").text == "root")
                clients.append(client)
            }
            for refused in 1...2 {
                let more = try await server.connection()
                try await more.expectClosed()
                try await server.until("the refusal") { $0.refusedConnections == refused }
                await more.close()
            }
            #expect(server.application.openConnections == 3)
            await clients[0].close()
            try await server.untilConnections(2)
            let again = try await server.client()
            #expect(try await again.request("GET", "/").text == "root")
            for client in clients + [again] { await client.close() }
        }
    }

    @Test("Connections are dealt to all loops")
    func dealing() async throws {
        let loops = EventRecorder<Int>()
        try await TestServer.run { routes in
            routes.get(immediately: { request in
                loops.append(request.loop.index)
                return .text("")
            })
        } _: { server in
            for _ in 0..<6 { _ = try await HTTPTestClient.request(at: server.endpoint, "GET", "/") }
            #expect(loops.all.sorted() == [0, 0, 0, 1, 1, 1])
        }
    }

    @Test("All addresses are listened on, or none")
    func allOrNone() async throws {
        let path = "/tmp/ls-all-\(UUID().uuidString)"
        let addresses = [
            try SocketAddress.resolve(host: "127.0.0.1", port: 0)[0], try SocketAddress(path: path),
            try SocketAddress.resolve(host: "::1", port: 0)[0],
        ]
        let application = Application(
            on: try EventLoopGroup(count: 2), limits: ServerLimits.patient,
            responder: Responder(
                mapError: { Abort(.internalServerError, reason: "\($0)") }, routes: { $0.addPlain() }))
        let bound = try await application.listen(on: addresses.map { ServerEndpoint($0) })
        #expect(bound.count == 3)
        for address in bound {
            let endpoint = try #require(ClientEndpoint(address.description))
            #expect(try await HTTPTestClient.request(at: endpoint, "GET", "/").text == "root")
        }

        let other = "/tmp/ls-none-\(UUID().uuidString)"
        await #expect(throws: SocketError.self) {
            try await application.listen(on: [ServerEndpoint(SocketAddress(path: other)), bound[0]])
        }
        #expect(access(other, F_OK) != 0)
        let first = try #require(ClientEndpoint(bound[0].description))
        #expect(try await HTTPTestClient.request(at: first, "GET", "/").text == "root")
        await application.stop()
        #expect(access(path, F_OK) != 0)
    }
}

/// Never answers.
private final class SilentPeer: WebSocketHandler {
    func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {}
    func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {}
}
