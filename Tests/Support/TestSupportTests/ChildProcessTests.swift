import Glibc
import TestSupport
import Testing

@Suite struct ChildProcessTests {
    private func shell(_ script: String, environment: [String: String] = [:]) async throws -> ChildProcess {
        try await ChildProcess.start("/bin/sh", ["-c", script], environment: environment)
    }

    @Test("Lines of both outputs arrive before the exit status", arguments: 0...3)
    func outputs(status: Int32) async throws {
        let child = try await shell(
            "echo out $A; echo err >&2; printf unfinished; exit \(status)", environment: ["A": "b"])
        #expect(try await child.waitForExit() == .exited(status))
        #expect(child.lines.all.contains(OutputLine(stream: .output, text: "out b")))
        #expect(child.lines.all.contains(OutputLine(stream: .error, text: "err")))
        #expect(child.lines.all.contains(OutputLine(stream: .output, text: "unfinished")))
        await #expect(throws: ClientFailure.self) { try await child.lines.next { $0.text == "more" } }
        #expect(try await child.waitForExit() == .exited(status), "the status can be asked for again")
    }

    @Test("A signal ends the child and is its status", arguments: [SIGTERM, SIGKILL, SIGINT])
    func signals(number: Int32) async throws {
        let child = try await shell("echo ready; exec sleep 600")
        try await child.lines.next { $0.text == "ready" }
        await child.signal(number)
        #expect(try await child.waitForExit() == .signalled(number))
        await child.signal(number)
    }

    @Test("A process that the child left doesn't delay its end")
    func orphan() async throws {
        let child = try await shell("sleep 5 & echo $!; exit 4")
        #expect(try await child.waitForExit() == .exited(4))
        let orphan = try #require(child.lines.all.first.flatMap { Int32($0.text) })
        kill(orphan, SIGKILL)
    }

    @Test("A child ends with its object")
    func released() async throws {
        var child: ChildProcess? = try await shell("echo ready; exec sleep 600")
        let lines = try #require(child?.lines)
        try await lines.next { $0.text == "ready" }
        child = nil
        // The lines finish when the child has been reaped.
        let failure = await #expect(throws: ClientFailure.self) { try await lines.next() }
        guard case .ended = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("Signals have their defaults and none is blocked")
    func signalMask() async throws {
        let child = try await shell("grep -E '^Sig(Blk|Ign)' /proc/self/status")
        #expect(try await child.waitForExit() == .exited(0))
        // glibc has a spawned child ignore the two signals that it keeps for itself, 32 and 33.
        #expect(child.lines.all.map(\.text).sorted() == ["SigBlk:\t0000000000000000", "SigIgn:\t0000000180000000"])
    }

    @Test("Input and output can alternate")
    func conversation() async throws {
        let child = try await ChildProcess.start("/bin/cat", [], environment: [:], converses: true)
        let conversation = try #require(child.conversation)
        try await conversation.send("hello\n")
        #expect(try await conversation.receiveUntil("\n") == Array("hello\n".utf8))
        try await conversation.shutdownWrite()
        #expect(try await child.waitForExit() == .exited(0))
    }

    @Test("A program that can't be run gives an error")
    func missing() async throws {
        await #expect(throws: ClientFailure.system(call: "running /nonexistent", code: ENOENT)) {
            try await ChildProcess.start("/nonexistent", [], environment: [:])
        }
    }
}
