// In a whole-module build, `sigset_t` comes from CLinux.
import CLinux
import CSpawn
import Glibc

/// A child process that writes its output to a file and ends with this process.
final class ServerProcess {
    let pid: pid_t
    private let output: String
    private var hasEnded = false

    /// The command that makes the kernel end a child when the thread that started it ends, for any reason.
    private static let wrapper = ["/usr/bin/setpriv", "--pdeathsig", "TERM", "--"]

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - processors: The processors that the child may use.
    ///   - output: The file for its standard output and error. An existing file is replaced.
    init(_ arguments: [String], on processors: Processors, output: String) throws(BenchFailure) {
        self.output = output
        let own = try Processors.current()
        try processors.bind()
        let isWrapped = access(Self.wrapper[0], X_OK) == 0
        let started = Result { () throws(BenchFailure) in
            try Self.spawn((isWrapped ? Self.wrapper : []) + arguments, output: output)
        }
        try own.bind()
        pid = try started.get()
        Children.shared.add(pid)
    }

    deinit {
        stop()
    }

    /// Returns the process's output so far.
    func written() -> String {
        ProcText.read(output) ?? ""
    }

    /// Waits until `find` returns a value for the process's output.
    @discardableResult
    func await<Value>(
        _ what: String, within seconds: Int = 30, find: (String) -> Value?
    ) throws(BenchFailure) -> Value {
        for _ in 0..<(100 * seconds) {
            if let value = find(written()) { return value }
            guard isRunning() else { throw BenchFailure("ended before \(what): \(written().suffix(2_000))") }
            usleep(10_000)
        }
        throw BenchFailure("no \(what) within \(seconds) s: \(written().suffix(2_000))")
    }

    func isRunning() -> Bool {
        guard !hasEnded else { return false }
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) == 0 else {
            markEnded()
            return false
        }
        return true
    }

    /// Ends the process with SIGTERM, and after five seconds with SIGKILL.
    func stop() {
        guard isRunning() else { return }
        kill(pid, SIGTERM)
        for _ in 0..<500 {
            guard isRunning() else { return }
            usleep(10_000)
        }
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        markEnded()
    }

    private func markEnded() {
        hasEnded = true
        Children.shared.remove(pid)
    }

    private static func spawn(_ arguments: [String], output: String) throws(BenchFailure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        guard posix_spawn_file_actions_init(&actions) == 0 else { throw BenchFailure("out of memory") }
        defer { posix_spawn_file_actions_destroy(&actions) }
        let results = [
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0),
            posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600),
            posix_spawn_file_actions_adddup2(&actions, 1, 2),
            posix_spawn_file_actions_addclosefrom_np(&actions, 3),
        ]
        guard results.allSatisfy({ $0 == 0 }) else { throw BenchFailure("posix_spawn_file_actions") }
        var attributes = posix_spawnattr_t()
        guard posix_spawnattr_init(&attributes) == 0 else { throw BenchFailure("out of memory") }
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        let flags = Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF)
        let settings = [
            posix_spawnattr_setsigmask(&attributes, &none), posix_spawnattr_setsigdefault(&attributes, &all),
            posix_spawnattr_setflags(&attributes, flags),
        ]
        guard settings.allSatisfy({ $0 == 0 }) else { throw BenchFailure("posix_spawnattr") }
        let copies = arguments.map { strdup($0) } + [nil]
        let variables = environment().map { strdup($0) } + [nil]
        defer { for copy in copies + variables { free(copy) } }
        var child: pid_t = 0
        let code = posix_spawn(&child, arguments[0], &actions, &attributes, copies, variables)
        guard code == 0 else { throw BenchFailure("\(arguments[0]): \(String(cString: strerror(code)))") }
        return child
    }

    /// This process's environment, without the variables that configure a daemon or name a database.
    private static func environment() -> [String] {
        var variables: [String] = []
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            let foreign = ["PG", "LETSSWITCH_", "LISTEN_", "DATABASE_URL=", "PORT=", "NOTIFY_SOCKET="]
            if !foreign.contains(where: text.hasPrefix) { variables.append(text) }
            next += 1
        }
        return variables
    }
}
