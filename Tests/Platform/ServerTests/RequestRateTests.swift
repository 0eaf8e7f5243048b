import Server
import Sockets
import TestSupport
import Testing
import Wire

/// The rates of an address's requests that read, write or register.
@Suite struct RequestRateTests {
    @Test("Requests and writes have separate rates per address")
    func requestRate() async throws {
        try await TestServer.withLimits {
            // The bursts are 30 requests and 10 writes.
            ($0.requestRate, $0.writeRate, $0.addressBurst) = (3, 1, .seconds(10))
        } _: { server in
            let connection = try await server.connection()
            let client = HTTPTestClient(over: connection)
            func statuses(_ request: String, for address: String?, count: Int) async throws -> [Int] {
                let forwarded = address.map { "X-Forwarded-For: \($0)\r\n" } ?? ""
                let bytes = "\(request) HTTP/1.1\r\nHost: x\r\n\(forwarded)Content-Length: 0\r\n\r\n"
                // All are sent at once, so that no time passes between them.
                try await connection.send(String(repeating: bytes, count: count))
                var statuses: [Int] = []
                for _ in 0..<count {
                    let response = try await client.readResponse(to: "GET")
                    statuses.append(response.status)
                    guard response.status == 429 else { continue }
                    #expect(response.headers["Retry-After"] == "1")
                    #expect(try response.json()["code"].string == "too_many_requests")
                }
                return statuses
            }
            let writes = try await statuses("POST /echo", for: "203.0.113.7", count: 15)
            #expect(writes == Array(repeating: 200, count: 10) + Array(repeating: 429, count: 5))
            // Requests to unknown routes count as well.
            let missing = try await statuses("PUT /nothing", for: "203.0.113.7", count: 2)
            #expect(missing == [429, 429])
            let reads = try await statuses("GET /later/1", for: "203.0.113.7", count: 40)
            #expect(reads.prefix(10).allSatisfy { $0 == 200 } && reads.suffix(10).allSatisfy { $0 == 429 })
            let counters = await server.application.counters()
            #expect(counters.rateLimitedWrites == 7)
            #expect(
                counters.rateLimitedRequests >= 10 && counters.rateLimitedRequests == reads.filter { $0 == 429 }.count)
            // Other addresses and this machine aren't limited.
            #expect(try await statuses("POST /echo", for: "203.0.113.8", count: 5) == [200, 200, 200, 200, 200])
            #expect(try await statuses("POST /echo", for: nil, count: 50).allSatisfy { $0 == 200 })
        }
    }

    @Test("Registrations have a daily limit per address")
    func registrationsPerDay() async throws {
        try await TestServer.withLimits {
            $0.registrationsPerDay = 2
        } _: { server in
            let client = try await server.client()
            let header = TestHeaders.forwarded("203.0.113.7")
            var statuses: [Int] = []
            for _ in 0..<3 {
                statuses.append(try await client.request("POST", "/registration", headers: header).status)
            }
            #expect(statuses == [200, 200, 429])
            let refusal = try await client.request("POST", "/registration", headers: header)
            #expect(try refusal.json()["code"].string == "too_many_registrations")
            #expect(await server.application.counters().rateLimitedRegistrations == 2)
            #expect(try await client.request("POST", "/echo", headers: header).status == 200)
            #expect(try await client.request("POST", "/registration").status == 200)
        }
    }

    @Test("A request to a costly route counts as several requests")
    func cost() async throws {
        try await TestServer.withLimits {
            // Thirty at once.
            ($0.requestRate, $0.addressBurst) = (3, .seconds(10))
        } _: { server in
            let connection = try await server.connection()
            let client = HTTPTestClient(over: connection)
            let request = "GET /dear HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n"
            try await connection.send(String(repeating: request, count: 5))
            var statuses: [Int] = []
            for _ in 0..<5 { statuses.append(try await client.readResponse(to: "GET").status) }
            #expect(statuses == [200, 200, 200, 429, 429])
        }
    }

    @Test("Requests that a route gives back can be used again")
    func givenBack() async throws {
        try await TestServer.withLimits {
            $0.registrationsPerDay = 8
        } _: { server in
            let client = try await server.client()
            var statuses: [Int] = []
            for _ in 0..<5 {
                statuses.append(
                    try await client.request(
                        "POST", "/registrations", headers: .forwarded("203.0.113.7")
                    ).status)
            }
            // Each takes two of eight, and needs two more for a moment.
            #expect(statuses == [200, 200, 200, 429, 429])
        }
    }

    @Test("A client that ignores refusals is disconnected")
    func unheeded() async throws {
        var edge = EdgePolicy()
        edge.expectsProxyHeader = true
        try await TestServer.withLimits(edge: edge) {
            $0.requestRate = 1
        } _: { server in
            let connection = try await server.connection()
            let request = "GET /now/1 HTTP/1.1\r\nHost: x\r\n\r\n"
            try await connection.send(
                "PROXY TCP4 203.0.113.7 192.0.2.1 56324 80\r\n" + String(repeating: request, count: 100))
            let client = HTTPTestClient(over: connection)
            var last = try await client.readResponse(to: "GET")
            #expect(last.status == 200)
            var refusals = 0
            while last.headers["Connection"] == nil {
                last = try await client.readResponse(to: "GET")
                if last.status == 429 { refusals += 1 }
            }
            #expect(last.status == 429 && last.headers["Connection"] == "close")
            #expect(refusals >= 32)
            try await connection.expectClosed()

            // The proxy's own connection carries other clients' requests too.
            let own = try await server.connection()
            let forwarded = request.replacing("Host: x\r\n", with: "Host: x\r\nX-Forwarded-For: 203.0.113.7\r\n")
            try await own.send("PROXY UNKNOWN\r\n" + String(repeating: forwarded, count: 100))
            let proxied = HTTPTestClient(over: own)
            for _ in 0..<100 { #expect(try await proxied.readResponse(to: "GET").headers["Connection"] == nil) }
        }
    }

    @Test("While one address floods, another's requests are all answered")
    func hammering() async throws {
        try await TestServer.withLimits {
            $0.requestRate = 1
        } _: { server in
            let hasSeenEnough = EventRecorder<Bool>()
            let hammer = Task {
                var refused = 0
                let client = try await server.client()
                while hasSeenEnough.all.isEmpty {
                    let response = try await client.request("GET", "/now/1", headers: .forwarded("203.0.113.7"))
                    if response.status == 429 { refused += 1 }
                }
                return refused
            }
            let other = try await server.client()
            try await server.until("the refusals") { $0.rateLimitedRequests > 5 }
            for number in 0..<200 {
                let path = number % 2 == 0 ? "/now/\(number)" : "/later/\(number)"
                let response = try await other.request("GET", path, headers: .forwarded("203.0.113.\(number + 8)"))
                #expect(response.status == 200 && response.text == "\(number)")
            }
            hasSeenEnough.append(true)
            #expect(try await hammer.value > 5)
        }
    }
}
