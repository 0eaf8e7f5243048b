import Dispatch
import JourneyTestSupport
import Observability
import Sockets
import TestSupport
import Testing

@testable import LetsSwitch

/// The reports for a systemd unit with `WatchdogSec=`.
@Suite struct WatchdogTests {
    @Test("The daemon reports to systemd until it stops")
    func reports() async throws {
        try await Journey.run { journey in
            let socket = try NotifySocket()
            let (daemon, _) = try await journey.process(
                environment: ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "20000"])
            #expect(try await socket.messages.next("READY").hasPrefix("READY=1\n"))
            for _ in 0..<3 { #expect(try await socket.messages.next("WATCHDOG") == "WATCHDOG=1") }
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test("The daemon doesn't report if systemd watches another process")
    func otherProcess() async throws {
        try await Journey.run { journey in
            let socket = try NotifySocket()
            let (daemon, _) = try await journey.process(
                environment: ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "20000", "WATCHDOG_PID": "1"])
            #expect(try await socket.messages.next("READY").hasPrefix("READY=1\n"))
            #expect(try await daemon.terminate() == .exited(0))
            // A daemon that is watched reports immediately after READY.
            #expect(try await socket.messages.next("STOPPING").hasPrefix("STOPPING=1\n"))
        }
    }

    @Test("A daemon with an event loop that hangs doesn't report")
    func hangingLoop() async throws {
        let socket = try NotifySocket()
        let group = try EventLoopGroup(count: 2)
        let watchdog = Watchdog(loops: group.loops, notifier: SystemdNotifier(socket: socket.path))
        let (isHanging, hold) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        group.loops[1].submit { _ in
            isHanging.signal()
            hold.wait()
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                isHanging.wait()
                continuation.resume()
            }
        }
        let reporting = Task { await watchdog.report() }
        // The report passes the first loop and waits for the second.
        await group.loops[0].run { _ in }
        SystemdNotifier(socket: socket.path).status("still hanging")
        #expect(try await socket.messages.next("the status") == "STATUS=still hanging")
        hold.signal()
        await reporting.value
        #expect(try await socket.messages.next("WATCHDOG") == "WATCHDOG=1")
        for loop in group.loops { await loop.stop() }
    }
}
