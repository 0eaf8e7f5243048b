import Glibc

/// The two ends of a pipe or socket pair: `ours`, which is non-blocking, and `theirs`, which the child gets.
struct ChildStream: Sendable {
    /// Our end; -1 if there is none.
    let ours: Int32
    let theirs: Int32

    static func pipe() throws(ClientFailure) -> ChildStream {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw .system(call: "pipe", code: errno) }
        // Swift's Glibc lacks `pipe2`. A child started between the two calls inherits the ends. That is harmless, since
        // no test waits for a pipe's end.
        guard fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0, fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0,
            fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0
        else { throw .system(call: "fcntl", code: errno) }
        return ChildStream(ours: ends[0], theirs: ends[1])
    }

    static func socketPair() throws(ClientFailure) -> ChildStream {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .system(call: "socketpair", code: errno) }
        guard fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 else { throw .system(call: "fcntl", code: errno) }
        return ChildStream(ours: ends[0], theirs: ends[1])
    }

    static func null() throws(ClientFailure) -> ChildStream {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(call: "open /dev/null", code: errno) }
        return ChildStream(ours: -1, theirs: descriptor)
    }

    func closeTheirs() { _ = close(theirs) }
    func closeOurs() { if ours >= 0 { _ = close(ours) } }
}

enum Spawn {
    /// Starts `command`, whose first element is a path, with the three descriptors. The child doesn't inherit our
    /// descriptors. Each of its signals has the default action and is unblocked.
    static func run(
        _ command: [String], environment: [String: String], input: Int32, output: Int32, error: Int32
    ) -> Result<pid_t, ClientFailure> {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var all = sigset_t()
        var none = sigset_t()
        sigfillset(&all)
        sigemptyset(&none)
        let steps: [(String, Int32)] = [
            ("adddup2", posix_spawn_file_actions_adddup2(&actions, input, 0)),
            ("adddup2", posix_spawn_file_actions_adddup2(&actions, output, 1)),
            ("adddup2", posix_spawn_file_actions_adddup2(&actions, error, 2)),
            ("setsigdefault", posix_spawnattr_setsigdefault(&attributes, &all)),
            ("setsigmask", posix_spawnattr_setsigmask(&attributes, &none)),
            (
                "setflags",
                posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
            ),
        ]
        for (call, code) in steps where code != 0 {
            return .failure(.system(call: "posix_spawn: \(call)", code: code))
        }

        // `strdup` fails only if there is no memory. The list of arguments then ends early, and the child reports the
        // missing argument.
        let arguments = command.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for string in arguments + variables { free(string) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, command[0], &actions, &attributes, arguments, variables)
        return code == 0 ? .success(pid) : .failure(.system(call: "posix_spawn \(command[0])", code: code))
    }
}
