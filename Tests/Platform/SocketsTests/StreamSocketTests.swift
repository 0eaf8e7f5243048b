import Basics
import Glibc
import TestSupport
import Testing

@testable import Sockets

@Suite struct StreamSocketTests {
    private static let mebibyte = 1 << 20
    /// Enqueues more than the kernel takes for a peer that doesn't read. It uses little memory, because it repeats one
    /// object.
    private static func enqueueMuch(_ socket: StreamSocket, mebibytes: Int = 4) {
        let bytes = SharedBytes([UInt8](repeating: 0x2A, count: mebibyte))
        for _ in 0..<mebibytes { socket.enqueue(bytes) }
    }

    @Test(
        "Bytes travel in both directions over every family",
        arguments: ["127.0.0.1", "::1", "/tmp/ls-stream-\(getpid())"])
    func bothWays(address: String) async throws {
        try await SocketBench.run(at: address) { bench in
            let client = try await bench.connect()
            try await client.send("hello")
            #expect(try await bench.receivedBytes(5) == Array("hello".utf8))
            try await bench.withSocket { socket in
                for text in ["a", "bc", "", "def"] { socket.enqueue(SharedBytes(text.utf8)) }
            }
            #expect(try await client.receiveExactly(6) == Array("abcdef".utf8))
        }
    }

    @Test("Bytes enqueued in a turn leave in one call")
    func oneCall() async throws {
        try await SocketBench.run { bench in
            // These sockets keep the boundaries of each `send`.
            var pair: [CInt] = [0, 0]
            let kind = CInt(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            try #require(socketpair(AF_UNIX, kind, 0, &pair) == 0)
            let (ours, theirs) = (pair[0], pair[1])
            defer { close(theirs) }
            try await bench.loops[0].run { reactor in
                let socket = try StreamSocket(
                    DetachedSocket(descriptor: ours, openSockets: bench.openSockets), on: reactor)
                let frame = SharedBytes([7], copies: 2)
                for _ in 0..<3 { socket.enqueue(frame) }
                socket.enqueue(SharedBytes([8, 9]))
            }
            var packet = [UInt8](repeating: 0, count: 64)
            #expect(recv(theirs, &packet, packet.count, CInt(MSG_DONTWAIT)) == 5)
            #expect(packet.prefix(5) == [7, 7, 7, 8, 9])
            #expect(recv(theirs, &packet, packet.count, CInt(MSG_DONTWAIT)) == -1)
        }
    }

    @Test("Bytes enqueued after each drain are sent in the next turn")
    func drainedForTurns() async throws {
        final class Counting: StreamSocketHandler {
            var left: UInt8 = 50
            func socket(_ socket: StreamSocket, received bytes: UnsafeMutableRawBufferPointer) {}
            func socketReceivedEnd(_ socket: StreamSocket) {}
            func socketDidDrain(_ socket: StreamSocket) {
                guard left > 0 else { return socket.close() }
                left -= 1
                socket.enqueue(SharedBytes([left]))
            }
            func socketDeadlinePassed(_ socket: StreamSocket) {}
            func socketDidClose(_ socket: StreamSocket, because cause: StreamSocket.CloseCause) {}
            func serverStops(_ socket: StreamSocket) {}
        }
        try await SocketBench.run { bench in
            let client = try await bench.connect()
            try await bench.withSocket { socket in
                socket.handler = Counting()
                socket.reportsDrain = true
                socket.enqueue(SharedBytes([50]))
            }
            #expect(try await client.receiveExactly(51) == Array((0...50).reversed()))
            try await bench.until("the socket is closed") { bench.openSockets.current == 0 }
            await client.close()
        }
    }

    @Test("Bytes enqueued because the peer read are sent in the same turn")
    func drainedWithinTurn() async throws {
        final class Settling: StreamSocketHandler, TurnEndHandler {
            let socket: StreamSocket
            init(_ socket: StreamSocket) { self.socket = socket }
            func socket(_ socket: StreamSocket, received bytes: UnsafeMutableRawBufferPointer) {}
            func socketReceivedEnd(_ socket: StreamSocket) {}
            func socketDidDrain(_ socket: StreamSocket) {
                socket.reportsDrain = false
                socket.reactor.callAtEndOfTurn(self)
            }
            func socketDeadlinePassed(_ socket: StreamSocket) {}
            func socketDidClose(_ socket: StreamSocket, because cause: StreamSocket.CloseCause) {}
            func serverStops(_ socket: StreamSocket) {}
            func turnEnds() { socket.enqueue(SharedBytes("settled".utf8)) }
        }
        try await SocketBench.run { bench in
            let client = try await bench.connect()
            try await bench.withSocket { socket in
                let handler = Settling(socket)
                socket.handler = handler
                socket.reportsDrain = true
                socket.enqueue(SharedBytes("taken".utf8))
            }
            #expect(try await client.receiveExactly(12) == Array("takensettled".utf8))
        }
    }

    @Test("After the peer's FIN the other direction stays open")
    func halfClose() async throws {
        try await SocketBench.run { bench in
            let client = try await bench.connect()
            try await client.send("?")
            try await client.shutdownWrite()
            try await bench.events.next("the bytes") { $0 == .received([0x3F]) }
            try await bench.events.next("the end") { $0 == .ended }
            try await bench.withSocket { socket in
                #expect(socket.peerEnded)
                #expect(socket.isOpen)
                socket.enqueue(SharedBytes("answer".utf8))
                socket.finish()
            }
            #expect(try await client.receiveToEnd() == Array("answer".utf8))
            try await bench.until("the socket is closed") { bench.openSockets.current == 0 }
            #expect(bench.events.all == [.received([0x3F]), .ended])
        }
    }

    @Test("A finished socket sends its queue and FIN")
    func finish() async throws {
        try await SocketBench.run { bench in
            let client = try await bench.connect()
            try await bench.withSocket { $0.setReading(false) }
            try await client.send([UInt8](repeating: 1, count: 100_000))
            try await bench.withSocket { socket in
                Self.enqueueMuch(socket, mebibytes: 8)
                socket.finish(sending: .seconds(60))
                socket.enqueue(SharedBytes("too late".utf8))
                #expect(!socket.isOpen)
            }
            #expect(try await client.receiveToEnd(limit: 16 << 20).count == 8 << 20)
            try await client.shutdownWrite()
            try await bench.until("the socket is closed") { bench.openSockets.current == 0 }
            #expect(bench.events.all == [])
        }
    }

    @Test("A peer that doesn't take the queue times out")
    func finishTimesOut() async throws {
        try await SocketBench.run(at: "/tmp/ls-late-\(getpid())") { bench in
            let client = try await bench.connect()
            try await bench.withSocket { socket in
                Self.enqueueMuch(socket)
                socket.finish(sending: .milliseconds(50))
            }
            try await bench.until("the socket is closed") { bench.openSockets.current == 0 }
            #expect(try await client.receiveToEnd(limit: 16 << 20).count < 4 << 20)
        }
    }

    @Test("A peer that keeps sending to a finished socket is reset")
    func lingeringIsBounded() async throws {
        try await SocketBench.run { bench in
            let client = try await bench.connect()
            try await bench.withSocket { $0.finish() }
            await #expect(throws: ClientFailure.self) {
                for _ in 0..<64 { try await client.send([UInt8](repeating: 0, count: Self.mebibyte)) }
            }
            try await bench.until("the socket is closed") { bench.openSockets.current == 0 }
        }
    }

    @Test("A slow reader is disconnected when its queue exceeds the limit")
    func queueFull() async throws {
        // On a Unix socket the kernel takes no more bytes until the peer reads.
        try await SocketBench.run(at: "/tmp/ls-full-\(getpid())") { bench in
            let client = try await bench.connect()
            // The kernel's buffers are full. The waiting bytes are within the limit.
            try await bench.withSocket { socket in
                socket.sendLimit = 64 << 20
                Self.enqueueMuch(socket)
            }
            try await bench.withSocket { socket in
                #expect(socket.isOpen)
                #expect(socket.unsentBytes > 0)
                socket.sendLimit = UInt32(socket.unsentBytes + 1000)
                socket.enqueue(SharedBytes([UInt8](repeating: 0, count: 500)))
            }
            #expect(bench.events.all == [])
            try await bench.withSocket { $0.enqueue(SharedBytes([UInt8](repeating: 0, count: 501))) }
            try await bench.events.next("the cut") { $0 == .closed(.sendQueueFull) }
            #expect(bench.openSockets.current == 0)
            await client.close()
        }
    }

    @Test("A slow reader gets everything")
    func drains() async throws {
        try await SocketBench.run(at: "/tmp/ls-drains-\(getpid())") { bench in
            let client = try await bench.connect()
            try await bench.withSocket { socket in
                socket.reportsDrain = true
                Self.enqueueMuch(socket)
            }
            #expect(bench.events.all == [])
            #expect(try await client.receiveExactly(4 << 20).count == 4 << 20)
            try await bench.events.next("the drain") { $0 == .drained }
        }
    }

    @Test("A moved deadline fires only at its last time", arguments: [true, false])
    func movedDeadline(later: Bool) async throws {
        try await SocketBench.run { bench in
            let client = try await bench.connect()
            let (first, last) = later ? (20, 60) : (3_600_000, 40)
            let due = try await bench.withSocket { socket in
                socket.deadline = socket.reactor.now + .milliseconds(first)
                socket.deadline = socket.reactor.now + .milliseconds(last)
                return socket.deadline
            }
            let event = try await bench.events.next("the deadline")
            guard case .deadlinePassed(let instant) = event else {
                Issue.record("\(event)")
                return
            }
            #expect(instant >= due)
            // The loop's other timers continue, and the deadline isn't reported again.
            let later = EventRecorder<Int>()
            try await bench.withSocket { socket in
                #expect(socket.deadline == .distantFuture)
                socket.reactor.schedule(after: .milliseconds(20)) { later.append(1) }
            }
            try await later.next()
            #expect(bench.events.all.count == 1)
            await client.close()
        }
    }

    @Test("A cancelled deadline doesn't fire")
    func cancelledDeadline() async throws {
        try await SocketBench.run { bench in
            let client = try await bench.connect()
            let later = EventRecorder<Int>()
            try await bench.withSocket { socket in
                socket.deadline = socket.reactor.now + .milliseconds(10)
                socket.deadline = .distantFuture
                socket.reactor.schedule(after: .milliseconds(30)) { later.append(1) }
            }
            try await later.next()
            #expect(bench.events.all == [])
            await client.close()
        }
    }

    @Test("A socket that changes loops keeps its unsent and unread bytes")
    func detach() async throws {
        try await SocketBench.run(at: "/tmp/ls-detach-\(getpid())") { bench in
            let client = try await bench.connect()
            try await bench.withSocket { socket in
                socket.setReading(false)
                Self.enqueueMuch(socket)
            }
            try await client.send("before")
            try await bench.withSocket { [events = bench.events, other = bench.loops[1]] socket in
                #expect(socket.unsentBytes > 0)
                let detached = socket.detach()
                #expect(bench.openSockets.current == 1)
                other.submit { reactor in
                    guard let socket = try? StreamSocket(detached, on: reactor) else { return }
                    socket.handler = RecordingHandler(events)
                    socket.enqueue(SharedBytes("last".utf8))
                }
            }
            #expect(try await bench.receivedBytes(6) == Array("before".utf8))
            let bytes = try await client.receiveExactly(4 << 20 + 4)
            #expect(bytes.suffix(4) == Array("last".utf8))
            #expect(bench.openSockets.current == 1)
            await client.close()
            try await bench.events.next("the end") { $0 == .ended }
        }
    }

    @Test("A detached socket that no loop takes is closed")
    func abandoned() async throws {
        try await SocketBench.run { bench in
            let client = try await bench.connect()
            try await bench.withSocket { _ = $0.detach() }
            try await client.expectClosed()
            #expect(bench.openSockets.current == 0)
        }
    }

    @Test("A companion lasts as long as the connection", arguments: ["closed", "finished", "detached", "lost"])
    func companion(how: String) async throws {
        final class Companion {}
        try await SocketBench.run { bench in
            let client = try await bench.connect()
            let weak = WeakBox()
            try await bench.withSocket { socket in
                let companion = Companion()
                socket.companion = companion
                weak.object = companion
            }
            try await bench.withSocket { socket in
                #expect(weak.object != nil)
                switch how {
                case "closed": socket.close()
                case "finished": socket.finish()
                case "detached": _ = socket.detach()
                default: break
                }
                // A finished socket remains until its bytes are sent, and still counts.
                #expect((weak.object != nil) == ["finished", "lost"].contains(how))
            }
            if how == "lost" { try await client.reset() } else { await client.close() }
            let deadline = ContinuousClock.now + Deadline.standard
            while bench.openSockets.current > 0, ContinuousClock.now < deadline { try await bench.withSocket { _ in } }
            try await bench.withSocket { _ in #expect(weak.object == nil) }
        }
    }

    /// `@unchecked Sendable`: accessed only on the loop.
    private final class WeakBox: @unchecked Sendable {
        weak var object: AnyObject?
    }

    @Test("Bytes wait while the socket isn't reading")
    func pausedReading() async throws {
        try await SocketBench.run { bench in
            let client = try await bench.connect()
            try await bench.withSocket { $0.setReading(false) }
            try await client.send("wait")
            for _ in 0..<3 { try await bench.withSocket { _ in } }
            #expect(bench.events.all == [])
            try await bench.withSocket { $0.setReading(true) }
            #expect(try await bench.receivedBytes(4) == Array("wait".utf8))
        }
    }

    @Test("A reset is reported, whether reading or not", arguments: [true, false])
    func reset(reading: Bool) async throws {
        try await SocketBench.run { bench in
            let client = try await bench.connect()
            try await bench.withSocket { $0.setReading(reading) }
            try await client.reset()
            try await bench.events.next("the reset") { $0 == .closed(.failed(ECONNRESET)) }
            #expect(bench.openSockets.current == 0)
        }
    }

    @Test("The close of a Unix socket's peer is reported once, whether reading or not", arguments: [true, false])
    func unixHangUp(reading: Bool) async throws {
        try await SocketBench.run(at: "/tmp/ls-hangup-\(getpid())-\(reading)") { bench in
            let client = try await bench.connect()
            try await bench.withSocket { $0.setReading(reading) }
            await client.close()
            try await bench.events.next("the end") { if case .closed = $0 { true } else { false } }
            #expect(bench.events.all.filter { $0 != .ended }.count == 1)
            #expect(bench.openSockets.current == 0)
        }
    }

    @Test("A stopping loop closes its sockets and accepts no more")
    func stop() async throws {
        try await SocketBench.run { bench in
            let client = try await bench.connect()
            try await bench.withSocket { $0.announceStop() }
            await bench.loops[0].stop()
            #expect(bench.events.all == [.serverStops, .closed(.loopStopped)])
            try await client.expectClosed()
            await #expect(throws: ClientFailure.self) { try await RawConnection.connect(to: bench.endpoint) }

            var pair: [CInt] = [0, 0]
            let kind = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
            try #require(socketpair(AF_UNIX, kind, 0, &pair) == 0)
            let (ours, theirs) = (pair[0], pair[1])
            defer { close(theirs) }
            await bench.loops[0].run { reactor in
                _ = #expect(throws: SocketError.self) {
                    try StreamSocket(DetachedSocket(descriptor: ours, openSockets: bench.openSockets), on: reactor)
                }
            }
            // A child process that another test starts at this moment has a copy of the descriptor until it executes
            // its program.
            var end = pollfd(fd: theirs, events: Int16(POLLIN), revents: 0)
            #expect(poll(&end, 1, 60_000) == 1)
            var byte: UInt8 = 0
            #expect(recv(theirs, &byte, 1, 0) == 0)
            #expect(bench.openSockets.current == 0)
        }
    }
}
