import Dispatch
import Foundation
import Glibc

/// A process that a test runs. It is killed when this object is released, and when the test process ends for any
/// reason: `setpriv --pdeathsig` makes the kernel kill it when the thread that started it ends, and that thread lives
/// as long as the child (prctl(2), PR_SET_PDEATHSIG).
package actor ChildProcess {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        ClientExecutor.shared.asUnownedSerialExecutor()
    }

    package nonisolated let pid: Int32
    /// The lines of the child's output, the newest 10,000. The order of lines from different outputs is unknown.
    package nonisolated let lines: EventRecorder<OutputLine>
    /// The child's standard input and output, if it was started with `converses`.
    package nonisolated let conversation: RawConnection?
    private let life: ChildLife

    private init(
        pid: pid_t, lines: EventRecorder<OutputLine>, conversation: RawConnection?, life: ChildLife
    ) {
        self.pid = pid
        self.lines = lines
        self.conversation = conversation
        self.life = life
    }

    deinit {
        ClientExecutor.shared.queue.async { [life] in life.signal(SIGKILL) }
    }

    /// Starts `executable` (a path). `environment` is the child's whole environment. If `converses` is set, standard
    /// input and output are one socket, `conversation`. Otherwise the input is empty, and the lines of both outputs go
    /// to `lines`.
    package static func start(
        _ executable: String, _ arguments: [String], environment: [String: String], converses: Bool = false
    ) async throws -> ChildProcess {
        guard access(executable, X_OK) == 0 else {
            throw ClientFailure.system(call: "running \(executable)", code: errno)
        }
        let lines = EventRecorder<OutputLine>()
        let life = ChildLife(lines: lines)
        let command = ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--", executable] + arguments
        let (input, output, error) = (
            try converses ? ChildStream.socketPair() : ChildStream.null(),
            try converses ? nil : ChildStream.pipe(), try ChildStream.pipe()
        )
        let spawned: Result<pid_t, ClientFailure> = await withCheckedContinuation { continuation in
            let thread = Thread {
                let result = Spawn.run(
                    command, environment: environment, input: input.theirs,
                    output: output?.theirs ?? input.theirs, error: error.theirs)
                for stream in [input, output, error] { stream?.closeTheirs() }
                continuation.resume(returning: result)
                guard case .success(let pid) = result else { return }
                // Waits without reaping. The pid is kept for the child until `ChildLife` knows its end, so no signal
                // can hit another process.
                var information = siginfo_t()
                while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
                ClientExecutor.shared.queue.async { life.reap() }
            }
            thread.name = "child"
            thread.start()
        }
        let pid: pid_t
        switch spawned {
        case .success(let started): pid = started
        case .failure(let failure):
            for stream in [input, output, error] { stream?.closeOurs() }
            throw failure
        }
        let queue = ClientExecutor.shared.queue
        var readers = [try OutputLines(error.ours, stream: .error, queue: queue) { lines.append($0) }]
        if let output {
            readers.append(try OutputLines(output.ours, stream: .output, queue: queue) { lines.append($0) })
        }
        queue.async { [readers] in life.begin(pid: pid, readers: readers) }
        return ChildProcess(
            pid: pid, lines: lines,
            conversation: converses ? try RawConnection(adopting: input.ours, named: executable) : nil, life: life)
    }

    /// The text of one of the child's outputs, without the last line's end.
    package nonisolated func text(of stream: OutputLine.Stream) -> String {
        lines.all.filter { $0.stream == stream }.map(\.text).joined(separator: "\n")
    }

    /// Sends a signal. Does nothing if the child has ended.
    package func signal(_ number: Int32) { life.signal(number) }

    /// Waits for the child's end and returns it. Fails after `allowed`.
    package func waitForExit(within allowed: Duration = Deadline.standard) async throws -> ExitStatus {
        if let status = life.status { return status }
        do {
            return try await life.exits.next("the end of process \(pid)", within: allowed)
        } catch {
            // Another task may have taken the event.
            guard let status = life.status else { throw error }
            return status
        }
    }
}

/// A child's pid while the child exists, and its exit status.
///
/// `@unchecked Sendable`: used on the clients' queue only, except for the two recorders, which have their own locks.
final class ChildLife: @unchecked Sendable {
    let exits = EventRecorder<ExitStatus>()
    private(set) var status: ExitStatus?
    private let lines: EventRecorder<OutputLine>
    private var pid: pid_t?
    private var readers: [OutputLines] = []
    private var hasEnded = false

    init(lines: EventRecorder<OutputLine>) {
        self.lines = lines
    }

    func begin(pid: pid_t, readers: [OutputLines]) {
        self.pid = pid
        self.readers = readers
        if hasEnded { reap() }
    }

    func signal(_ number: Int32) {
        guard let pid else { return }
        _ = kill(pid, number)
    }

    func reap() {
        hasEnded = true
        // The child may end before `begin`.
        guard let pid else { return }
        var word: Int32 = 0
        var reaped = waitpid(pid, &word, 0)
        while reaped < 0, errno == EINTR { reaped = waitpid(pid, &word, 0) }
        self.pid = nil
        // The last output is still in the pipes. They may stay open, because processes started by the child hold them
        // too.
        for reader in readers {
            reader.drain()
            reader.stop()
        }
        readers = []
        lines.finish()
        let status = reaped == pid ? ExitStatus(waitStatus: word) : .unknown
        self.status = status
        exits.append(status)
        exits.finish()
    }
}
