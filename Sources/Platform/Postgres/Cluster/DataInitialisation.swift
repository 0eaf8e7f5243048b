import Glibc

/// Creates the data directory with `initdb` under a temporary name. When it is complete, renames it. An incomplete
/// directory is removed by the next attempt.
struct DataInitialisation {
    private static let unfinished = "data.unfinished-"

    let placement: ClusterPlacement
    let binaries: PostgresBinaries
    let isDurable: Bool

    func run() throws {
        try placement.user.requireName()
        for name in placement.home.entries where name.hasPrefix(Self.unfinished) {
            // A failure is ignored: an `initdb` whose daemon was killed may still be writing in the directory. The next
            // attempt removes it.
            try? tool(["rm", "-rf", "--", placement.home.appending(name).path])
        }
        let new = placement.home.appending(Self.unfinished + String(UInt64.random(in: 0...UInt64.max), radix: 16))
        try tool(
            [binaries.path("initdb"), "-D", new.path] + placement.names.initialisationArguments
                + (isDurable ? [] : ["--no-sync"])
        )
        guard rename(new.path, placement.data.path) == 0 else {
            throw PrivateClusterError("cannot put the new data at", placement.data.path, errno: errno)
        }
        guard isDurable else { return }
        let descriptor = open(placement.home.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw PrivateClusterError("cannot open", placement.home.path, errno: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw PrivateClusterError("cannot sync", placement.home.path, errno: errno)
        }
    }

    private func tool(_ command: [String]) throws {
        let outcome = try Subprocess(command: placement.user.commandPrefix + command).run(timeout: .seconds(120))
        guard outcome.succeeded else {
            throw PrivateClusterError("\(command[0]) failed:\n\(outcome.output.suffix(2_048))")
        }
    }
}
