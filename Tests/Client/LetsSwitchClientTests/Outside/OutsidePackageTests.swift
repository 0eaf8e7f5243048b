import Foundation
import LetsSwitchClient
import TestSupport
import Testing

/// Tests of a package that depends on the library, and of the library's cost for a program.
@Suite struct OutsidePackageTests {
    /// The limits in addition to a program that only decodes JSON.
    private static let maxMoreBytes = 3_000_000
    private static let maxMoreMemory = 6_000
    private static let maxMillisecondsToStart = 30.0
    /// The allowed system libraries. Others, such as PostgreSQL's, must not be linked.
    private static let libraries = [
        "libc.", "libm.", "libstdc++.", "libgcc_s.", "ld-linux", "libssl.", "libcrypto.", "libz.",
    ]

    @Test(
        "A package next to the repository can use the library",
        .enabled(if: TestBroker.isWanted, "it builds a release: make interop-client"))
    func outside() async throws {
        let package = try OutsidePackage()
        defer { try? package.remove() }
        let built = try await package.build()
        let (room, floor) = (
            OutsideProgram(file: built.appendingPathComponent("room")),
            OutsideProgram(file: built.appendingPathComponent("floor"))
        )
        let libraries = try await room.libraries()
        for library in libraries {
            #expect(Self.libraries.contains { library.hasPrefix($0) }, "it is linked to \(library)")
        }
        #expect(!libraries.isEmpty)
        try await RunningDaemon.with(["--open-rooms"]) { server, _ in
            let id = UUID()
            let arguments = ["\(server)", id.uuidString]
            let start = try await Self.quickestStart(room, arguments)
            let (inRoom, alone) = (try await room.start(arguments), try await floor.start(arguments))
            for process in [inRoom, alone] {
                try await process.lines.next("a line of those who are in") { $0.text == "in \(id)" }
            }
            let memory = (try OutsideProgram.memory(of: inRoom.pid), try OutsideProgram.memory(of: alone.pid))
            try await Self.meet(inRoom, in: LetsSwitchClient(try ServerAddress("\(server)"), deviceID: "ada").room(id))
            let sizes = (try room.size, try floor.size)
            print(
                """
                Outside: \(sizes.0) bytes of program, \(sizes.1) without the library; \(memory.0) kB of memory in a \
                room, \(memory.1) without; it starts in \((start * 10).rounded() / 10) ms
                """)
            #expect(sizes.0 - sizes.1 <= Self.maxMoreBytes)
            #expect(memory.0 - memory.1 <= Self.maxMoreMemory)
            #expect(start < Self.maxMillisecondsToStart)
        }
    }

    @Test("The outside package's program enters a room and cheers")
    func program() async throws {
        let built = URL(fileURLWithPath: try DaemonProcess.executable()).deletingLastPathComponent()
        let room = OutsideProgram(file: built.appendingPathComponent("OutsideRoom"))
        try await RunningDaemon.with(["--open-rooms"]) { server, _ in
            let id = UUID()
            let inRoom = try await room.start(["\(server)", id.uuidString])
            try await inRoom.lines.next("a line of who is in") { $0.text == "in \(id)" }
            try await Self.meet(inRoom, in: LetsSwitchClient(try ServerAddress("\(server)"), deviceID: "ada").room(id))
        }
    }

    /// Runs the program, which receives a cheer, sends one and leaves.
    private static func meet(_ process: ChildProcess, in room: Room) async throws {
        var events = room.events.makeAsyncIterator()
        #expect(try await events.next() == .entered)
        try await room.cheer(.heart)
        try await process.lines.next("the cheer") { $0.text == "cheers!" }
        var event = try await events.next()
        while case .presence? = event { event = try await events.next() }
        #expect(event == .ale(.plain))
        #expect(try await process.waitForExit() == .exited(0))
        await room.leave()
    }

    /// Returns the milliseconds until the program's first output. It is the best of 20 runs, so that other load doesn't
    /// matter.
    private static func quickestStart(_ program: OutsideProgram, _ arguments: [String]) async throws -> Double {
        var best = Double.infinity
        for _ in 0..<20 {
            let begin = ContinuousClock.now
            let process = try await program.start(arguments)
            try await process.lines.next("its first word") { $0.text == "started" }
            best = min(best, (ContinuousClock.now - begin) / .milliseconds(1))
            await process.signal(SIGKILL)
            _ = try await process.waitForExit()
        }
        return best
    }
}
