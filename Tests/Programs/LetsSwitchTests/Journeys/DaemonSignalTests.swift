import Foundation
import Glibc
import JourneyTestSupport
import TestSupport
import Testing

@Suite struct DaemonSignalTests {
    @Test(
        "After SIGTERM, the daemon ends gracefully with status 0",
        arguments: [SIGTERM, SIGINT])
    func drain(_ signal: Int32) async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process(["--open-rooms"])
            let peer = try await endpoint.enter(UUID())
            let stream = try await endpoint.reminders(of: "ada")
            let idle = try await HTTPTestClient.connect(to: endpoint)
            #expect(try await idle.request("GET", "/healthz").status == 200)
            let busy = try await HTTPTestClient.connect(to: endpoint)
            let start = try await journey.instant(in: 3600)
            let body = try ClientEndpoint.task("ada", start, "History").encoded()
            // The head and a part of the body are sent.
            try await busy.sendHead(
                "POST", "/task", headers: ["Content-Length": "\(body.count)", "Expect": "100-continue"])
            #expect(try await busy.readHead().status == 100)
            try await busy.connection.send(Array(body[..<20]))

            await daemon.signal(signal)
            #expect(try await peer.expectClose(1001).isEmpty == false)
            try await stream.expectEnd()
            try await idle.expectClosed()
            await #expect(throws: ClientFailure.self) { try await endpoint.get("/healthz") }
            try await busy.connection.send(Array(body[20...]))
            let answer = try await busy.readResponse()
            #expect(answer.status == 201)
            #expect(!answer.keepsConnection)
            #expect(try await daemon.waitForExit() == .exited(0))
            try await daemon.waitForLog("stopped")
        }
    }

    @Test("A request that doesn't end delays the daemon's end by at most --drain-timeout")
    func limit() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process(["--drain-timeout", "2s", "--body-timeout", "1h"])
            let busy = try await HTTPTestClient.connect(to: endpoint)
            try await busy.sendHead("POST", "/task", headers: ["Content-Length": "100", "Expect": "100-continue"])
            #expect(try await busy.readHead().status == 100)
            // The request's own time ends in an hour.
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test("A second SIGTERM ends the process at once")
    func second() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process(["--drain-timeout", "1h", "--body-timeout", "1h"])
            let busy = try await HTTPTestClient.connect(to: endpoint)
            try await busy.sendHead("POST", "/task", headers: ["Content-Length": "100", "Expect": "100-continue"])
            #expect(try await busy.readHead().status == 100)
            await daemon.signal(SIGTERM)
            try await daemon.waitForLog("stopping")
            await daemon.signal(SIGTERM)
            #expect(try await daemon.waitForExit() == .exited(1))
        }
    }

    @Test("systemd is notified when the daemon is ready and when it stops")
    func systemd() async throws {
        try await Journey.run { journey in
            let socket = try NotifySocket()
            let (daemon, endpoint) = try await journey.process(environment: ["NOTIFY_SOCKET": socket.path])
            #expect(try await socket.messages.next("READY") == "READY=1\nSTATUS=listening on \(endpoint)")
            #expect(try await daemon.terminate() == .exited(0))
            #expect(try await socket.messages.next("STOPPING").hasPrefix("STOPPING=1\n"))
        }
    }

    @Test("The log has no device, token or title at its default level")
    func privacy() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process()
            let start = try await journey.instant(in: 3600)
            let device = "5E1F-very-secret-device"
            let registered = try await endpoint.post(
                "/token", ["deviceId": .string(device), "token": "c0ffee", "debug": false])
            #expect(registered.status == 200)
            let task = try await endpoint.register(device, start, "Confessions")
            try await endpoint.register("partner-of-the-secret", start, "Diary")
            #expect(try await endpoint.post("/task/delete", ClientEndpoint.task(device, start, "")).status == 409)
            let stream = try await endpoint.reminders(of: device)
            try await journey.advance(to: start, -60)
            #expect(try await stream.nextReminder().taskId == task.id)
            let line = try await daemon.waitForLog("reminder") { $0["taskId"].string == task.id.uuidString }
            #expect(line["paired"] == true)
            let erased = try await HTTPTestClient.request(at: endpoint, "DELETE", "/device?deviceId=\(device)")
            #expect(erased.status < 300)
            #expect(try await daemon.terminate() == .exited(0))
            for secret in [device, "partner-of-the-secret", "c0ffee", "C0FFEE", "Confessions", "Diary"] {
                #expect(!daemon.output.contains(secret), "\(secret)")
            }
            // Each event is one line. Each line is JSON, because the output isn't a terminal.
            for line in daemon.output.split(separator: "\n") {
                let log = try TestJSON(parsing: Array(line.utf8))
                #expect(log["ts"].string != nil && log["level"].string != nil && log["msg"].string != nil)
            }
        }
    }
}
