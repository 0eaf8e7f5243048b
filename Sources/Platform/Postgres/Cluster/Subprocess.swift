import CSpawn
import Glibc

/// A program that runs with a clean environment. It has its own session, so Ctrl-C in the terminal doesn't reach it.
/// Running it blocks the thread. Call it on the cluster's queue, which has no other work.
struct Subprocess {
    struct Outcome: Equatable {
        /// The exit status, or `nil` if a signal ended the program. The signal may come from this process.
        let status: Int32?
        /// The first 64 KiB of standard output and standard error together.
        let output: String

        var succeeded: Bool { status == 0 }
    }

    /// The maximum number of bytes of output that are kept. Further output is read and dropped.
    static let outputLimit = 65_536

    /// The program and its arguments. The program is looked up in `PATH` unless it contains a slash.
    let command: [String]

    /// The environment has only the locale and the time zone. `PG*` variables could make the tools use another
    /// database.
    private static let environment = [
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "TZ=UTC", "HOME=/",
    ]

    /// Throws if the program can't be started.
    func run(timeout: Duration) throws -> Outcome {
        let end = ContinuousClock.now + timeout
        return try run { ContinuousClock.now >= end }
    }

    /// Runs the program with a file to read from and a file to write to. If standard output goes to a file, it isn't
    /// part of the outcome.
    ///
    /// - Parameter isOver: Called every few milliseconds. If it returns `true`, the program is killed.
    func run(input: Int32? = nil, output: Int32? = nil, until isOver: () -> Bool) throws -> Outcome {
        var pipe: [Int32] = [-1, -1]
        guard Glibc.pipe(&pipe) == 0 else {
            throw PrivateClusterError("cannot run", command.first ?? "", errno: errno)
        }
        defer { close(pipe[0]) }
        // This can't fail for a new descriptor.
        _ = fcntl(pipe[0], F_SETFL, O_NONBLOCK)
        for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child = Result { try start(input: input, output: output ?? pipe[1], errors: pipe[1]) }
        close(pipe[1])
        return try wait(for: child.get(), output: pipe[0], until: isOver)
    }

    /// Starts the program and returns its process id. The caller has to wait for its end. Standard output and standard
    /// error go to `output`.
    func start(output: Int32) throws -> pid_t {
        try start(input: nil, output: output, errors: output)
    }

    private func start(input: Int32?, output: Int32, errors: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard posix_spawn_file_actions_init(&actions) == 0 else { throw PrivateClusterError("out of memory") }
        defer { posix_spawn_file_actions_destroy(&actions) }
        guard posix_spawnattr_init(&attributes) == 0 else { throw PrivateClusterError("out of memory") }
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        let flags = Int32(CPOSIX_SPAWN_SETSID) | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        let results: [Int32] = [
            input.map { posix_spawn_file_actions_adddup2(&actions, $0, 0) }
                ?? posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0),
            posix_spawn_file_actions_adddup2(&actions, output, 1),
            posix_spawn_file_actions_adddup2(&actions, errors, 2),
            posix_spawn_file_actions_addclosefrom_np(&actions, 3),
            posix_spawn_file_actions_addchdir_np(&actions, "/"),
            posix_spawnattr_setsigmask(&attributes, &none),
            posix_spawnattr_setsigdefault(&attributes, &all),
            posix_spawnattr_setflags(&attributes, Int16(flags)),
        ]
        let failure = results.first { $0 != 0 } ?? 0
        guard failure == 0 else { throw PrivateClusterError("cannot run", command.first ?? "", errno: failure) }

        let arguments = command.map { strdup($0) } + [nil]
        let variables = Self.environment.map { strdup($0) } + [nil]
        defer { for copy in arguments + variables { free(copy) } }
        var child: pid_t = 0
        let code = posix_spawnp(&child, command.first ?? "", &actions, &attributes, arguments, variables)
        guard code == 0 else { throw PrivateClusterError("cannot run", command.first ?? "", errno: code) }
        return child
    }

    /// Reads output until the program has ended. Kills the program if `isOver` returns `true`. The loop doesn't wait
    /// for the end of the pipe, because children of the program may keep it open.
    private func wait(for child: pid_t, output: Int32, until isOver: () -> Bool) throws -> Outcome {
        var collected: [UInt8] = []
        var killed = false
        while true {
            drain(output, into: &collected, waitMilliseconds: 5)
            var status: Int32 = 0
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child {
                drain(output, into: &collected, waitMilliseconds: 0)
                let exited = status & 0x7F == 0  // WIFEXITED
                return Outcome(
                    status: exited && !killed ? (status >> 8) & 0xFF : nil,
                    output: String(decoding: collected, as: UTF8.self))
            }
            if ended < 0, errno != EINTR {
                // This process ignores SIGCHLD, so the kernel has reaped the child. The exit status is therefore
                // unknown.
                throw PrivateClusterError("cannot wait for", command.first ?? "", errno: errno)
            }
            if !killed, isOver() {
                killed = true
                // The child leads its own process group, so this also kills the child's children.
                kill(-child, SIGKILL)
            }
        }
    }

    private func drain(_ descriptor: Int32, into collected: inout [UInt8], waitMilliseconds: Int32) {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&poller, 1, waitMilliseconds) > 0 else { return }
        // `poll` doesn't wait for a closed pipe. The child is about to end, so the thread sleeps here instead.
        if poller.revents & Int16(POLLIN) == 0 { usleep(useconds_t(waitMilliseconds) * 1_000) }
        var chunk = [UInt8](repeating: 0, count: 4_096)
        for _ in 0..<64 {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            collected.append(contentsOf: chunk[..<min(count, max(0, Self.outputLimit - collected.count))])
        }
    }
}
