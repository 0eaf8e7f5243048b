import Basics
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Sockets

@Suite struct ListeningSocketTests {
    private static func freshPath() -> String { "/tmp/ls-listen-\(UUID().uuidString)" }

    private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    @Test("Port 0 chooses a free port and reports it", arguments: ["127.0.0.1", "::1"])
    func freePort(host: String) async throws {
        let listener = try ListeningSocket(SocketAddress.resolve(host: host, port: 0)[0])
        let port = try #require(listener.address.port)
        #expect(port != 0)
        let again = try SocketAddress.resolve(host: host, port: port)[0]
        #expect(throws: SocketError("bind", on: again.description, errno: EADDRINUSE)) { try ListeningSocket(again) }
        listener.close()
        listener.close()
        // A child process that another test starts at this moment has the descriptor until it executes its program.
        try await eventually("the port is free again") {
            guard let second = try? ListeningSocket(again) else { return false }
            second.close()
            return true
        }
    }

    @Test("A listener that is freed before it started leaves neither descriptor nor path")
    func neverStarted() async throws {
        let path = Self.freshPath()
        let address = try SocketAddress(path: path)
        do {
            let listener = try ListeningSocket(address)
            #expect(Self.exists(path))
            withExtendedLifetime(listener) {}
        }
        #expect(!Self.exists(path))
    }

    @Test("Only the path of a dead listener is taken over")
    func takeOver() throws {
        let path = Self.freshPath()
        let address = try SocketAddress(path: path)
        let dead = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        #expect(address.withPointer { bind(dead, $0, $1) } == 0)
        close(dead)
        #expect(Self.exists(path))
        let alive = try ListeningSocket(address)
        #expect(throws: SocketError("bind", on: "unix:" + path, errno: EADDRINUSE)) { try ListeningSocket(address) }
        #expect(Self.exists(path))
        alive.close()
        #expect(!Self.exists(path))
    }

    @Test("A user that can reach the path can connect")
    func permissions() throws {
        let path = Self.freshPath()
        let listener = try ListeningSocket(SocketAddress(path: path))
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o666)
        listener.close()
    }

    @Test("A file that isn't a socket is left alone", arguments: ["file", "link", "directory"])
    func otherFiles(kind: String) throws {
        let (path, target) = (Self.freshPath(), Self.freshPath())
        defer { for path in [path, target] { _ = remove(path) } }
        try Data("keep".utf8).write(to: URL(fileURLWithPath: target))
        switch kind {
        case "file": try Data("keep".utf8).write(to: URL(fileURLWithPath: path))
        case "link": try #require(symlink(target, path) == 0)
        default: try #require(mkdir(path, 0o700) == 0)
        }
        let address = try SocketAddress(path: path)
        #expect(throws: SocketError("bind", on: "unix:" + path, errno: EADDRINUSE)) { try ListeningSocket(address) }
        #expect(Self.exists(path))
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("keep".utf8))
    }

    @Test(
        "A connection has its peer's address, except over a Unix socket",
        arguments: [
            ("127.0.0.1", 0, 0xFFFF_7F00_0001), ("::1", 0, 1), ("/tmp/ls-peer-\(UUID().uuidString)", 0, nil),
        ] as [(String, UInt64, UInt64?)])
    func peers(host: String, high: UInt64, low: UInt64?) throws {
        let isPath = host.hasPrefix("/")
        let address = try isPath ? SocketAddress(path: host) : SocketAddress.resolve(host: host, port: 0)[0]
        let reactor = try Reactor(index: 0, executor: LoopExecutor(label: "test"), openSockets: SocketCount())
        let listener = try ListeningSocket(address)
        var peers: [PeerAddress?] = []
        try listener.start(on: reactor) {
            peers.append($1)
        } rested: { _ in
        }
        let client = socket(listener.address.family, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        try #require(listener.address.withPointer { connect(client, $0, $1) } == 0)
        reactor.serveReadySockets()
        reactor.closeAll()
        #expect(peers.count == 1)
        #expect(peers.first??.low == low)
        #expect(peers.first??.high == (low == nil ? nil : high))
    }

    @Test("Connections are accepted one per turn, and more while more arrive")
    func appetite() throws {
        let address = try SocketAddress(path: Self.freshPath())
        let reactor = try Reactor(index: 0, executor: LoopExecutor(label: "test"), openSockets: SocketCount())
        let listener = try ListeningSocket(address)
        var turns: [(began: MonotonicTime, connections: Int)] = []
        try listener.start(on: reactor) { _, _ in
            if turns.last?.began != reactor.now { turns.append((reactor.now, 0)) }
            turns[turns.count - 1].connections += 1
        } rested: { _ in
        }
        var clients: [CInt] = []
        defer { for client in clients { close(client) } }
        for _ in 0..<400 {
            clients.append(socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0))
            try #require(address.withPointer { connect(clients[clients.count - 1], $0, $1) } == 0)
        }
        reactor.serveReadySockets()
        reactor.closeAll()
        let taken = turns.map(\.connections)
        #expect(taken.reduce(0, +) == 400)
        #expect(taken.prefix(8).allSatisfy { $0 == 1 })
        #expect(taken == taken.dropLast().sorted() + taken.suffix(1))
        #expect(taken.max() == 32)
    }

    /// Runs on a thread with its own full table of descriptors, so that other tests aren't affected.
    @Test("Without descriptors, the listener pauses")
    func exhaustion() async throws {
        let address = try SocketAddress(path: Self.freshPath())
        let outcome: Result<[String], any Error> = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                // This thread has the process's table of descriptors, and waits for the thread with its own table.
                // Resuming it may need descriptors.
                let finished = DispatchSemaphore(value: 0)
                let box = OutcomeBox()
                Thread.detachNewThread {
                    box.outcome = Result { try Self.exhaust(address) }
                    finished.signal()
                }
                finished.wait()
                continuation.resume(returning: box.outcome)
            }
        }
        #expect(try outcome.get() == ["rested \(EMFILE)", "accepted", "accepted"])
    }

    /// `@unchecked Sendable`: written before a semaphore is signalled, read after it was waited for.
    private final class OutcomeBox: @unchecked Sendable {
        var outcome: Result<[String], any Error> = .success([])
    }

    /// Gives this thread an empty table of descriptors (all but the standard three).
    private static func useOwnDescriptors() throws {
        // Swift's Glibc module lacks unshare(2) and close_range(2).
        guard let unshare = dlsym(nil, "unshare"), let closeRange = dlsym(nil, "close_range") else {
            throw ClientFailure.misuse("no unshare or close_range")
        }
        let cloneFiles: CInt = 0x400
        guard unsafeBitCast(unshare, to: (@convention(c) (CInt) -> CInt).self)(cloneFiles) == 0,
            unsafeBitCast(closeRange, to: (@convention(c) (CUnsignedInt, CUnsignedInt, CInt) -> CInt).self)(3, .max, 0)
                == 0
        else { throw ClientFailure.system(call: "unshare", code: errno) }
    }

    private static func exhaust(_ address: SocketAddress) throws -> [String] {
        try useOwnDescriptors()
        var log: [String] = []
        let reactor = try Reactor(index: 0, executor: LoopExecutor(label: "test"), openSockets: SocketCount())
        let listener = try ListeningSocket(address)
        try listener.start(on: reactor) { _, _ in
            log.append("accepted")
        } rested: { cause in
            log.append("rested \(cause)")
        }
        var clients: [CInt] = []
        for _ in 0..<2 {
            let client = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
            guard address.withPointer({ connect(client, $0, $1) }) == 0 else {
                throw ClientFailure.system(call: "connect", code: errno)
            }
            clients.append(client)
        }
        var filling: [CInt] = []
        while true {
            let copy = dup(reactor.pollDescriptor)
            if copy < 0 { break }
            filling.append(copy)
        }
        reactor.serveReadySockets()
        for descriptor in filling { Glibc.close(descriptor) }
        // The listener pauses although two connections wait. Then come the alarm and the two connections.
        var poller = pollfd(fd: reactor.pollDescriptor, events: Int16(POLLIN), revents: 0)
        while log.count < 3, poll(&poller, 1, 10_000) > 0 { reactor.serveReadySockets() }
        reactor.closeAll()
        for client in clients { Glibc.close(client) }
        return log
    }
}
