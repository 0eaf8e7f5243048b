import TestSupport
import Testing

/// The report of a wait that ends in vain. A shell script plays the daemon.
@Suite struct EvidenceTests {
    private static let moment = Duration.milliseconds(50)

    /// Starts a daemon that writes 60 lines.
    private func verbose() async throws -> DaemonProcess {
        let script = "i=1; while [ $i -le 60 ]; do echo \"line $i.\"; i=$((i + 1)); done; echo over; exec sleep 600"
        let daemon = try await DaemonProcess.start(["-c", script], executable: "/bin/sh")
        try await daemon.waitForLine { $0 == "over" }
        return daemon
    }

    private func report(_ wait: () async throws -> Void) async throws -> String {
        "\(try #require(await #expect(throws: ClientFailure.self) { try await wait() }))"
    }

    @Test("A wait in vain reports the newest 50 lines of the daemon's log")
    func log() async throws {
        try await Evidence.collect {
            let daemon = try await verbose()
            let silent = EventRecorder<Int>()
            let server = try ScriptedServer { peer in _ = peer.readHead() }
            let waits: [() async throws -> Void] = [
                { try await eventually("the end", within: Self.moment) { false } },
                { try await silent.next("a number", within: Self.moment) },
                { try await daemon.waitForLine("the end", within: Self.moment) { _ in false } },
                { _ = try await HTTPTestClient.request(at: server.endpoint, "GET", "/", within: Self.moment) },
            ]
            for wait in waits {
                let report = try await report(wait)
                #expect(report.contains("\n  The log of process \(daemon.process.pid), -c i=1"))
                #expect(report.contains("\n    line 12.\n"))
                #expect(report.contains("\n    over"))
                #expect(!report.contains("\n    line 11.\n"))
            }
        }
    }

    @Test("Outside of a journey, the daemons of the test itself are reported")
    func test() async throws {
        let daemon = try await verbose()
        let report = try await report { try await eventually("the end", within: Self.moment) { false } }
        #expect(report.contains("process \(daemon.process.pid)"))
    }

    @Test("A repeated wait reports the last three answers and the number of tries")
    func answers() async throws {
        try await Evidence.collect {
            let server = try ScriptedServer { peer in
                _ = peer.readHead()
                peer.write("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 3\r\n\r\nnow")
            }
            var count = 0
            let report = try await report {
                try await eventually("an answer", within: Self.moment) {
                    count += 1
                    return try await HTTPTestClient.request(at: server.endpoint, "GET", "/\(count)").status == 200
                }
            }
            #expect(report.contains("false at each of \(count) tries"))
            for number in max(1, count - 2)...count { #expect(report.contains("GET /\(number): 503 now")) }
            #expect(!report.contains("GET /\(count - 3): "))
        }
    }

    @Test("Reports that take time are added once")
    func slowReports() async throws {
        let inner = EventRecorder<String>()
        let outer = try await report {
            try await Evidence.collect {
                Evidence.addSlow { "The test's clock: noon" }
                do {
                    try await eventually("the end", within: Self.moment) { false }
                } catch {
                    inner.append("\(error)")
                    throw error
                }
            }
        }
        #expect(inner.all.map { $0.contains("noon") } == [false])
        #expect(outer.contains("\n  The test's clock: noon"))
    }

    @Test("Only the failure of a wait is extended with a report")
    func others() async throws {
        await Evidence.collect {
            Evidence.note { "an answer of another world" }
        }
        let failure = await #expect(throws: ClientFailure.self) {
            try await Evidence.collect {
                Evidence.addSlow { "The test's clock: noon" }
                throw ClientFailure.violation("wrong")
            }
        }
        #expect(failure == .violation("wrong"))
        let vain = try await report {
            try await Evidence.collect { try await eventually("the end", within: Self.moment) { false } }
        }
        #expect(!vain.contains("another world"))
    }
}
