import Glibc

/// Tests whether a daemon can use a state directory.
package enum StateDirectoryCheck {
    /// Returns the reason why the directory can't be created or written, with the path; nil if it can. Leaves nothing
    /// behind: it makes a directory where the daemon would make one, and removes it.
    package static func refusal(_ path: String) -> String? {
        // The daemon creates the missing part of the path.
        var existing = path.hasPrefix("/") ? "/" : "."
        var built = path.hasPrefix("/") ? "" : "."
        var status = stat()
        for component in path.split(separator: "/") {
            built += "/\(component)"
            guard stat(built, &status) == 0 else { break }
            existing = built
        }
        let probe = Directory(path: existing).appending(".letsswitch-check-\(getpid())")
        guard mkdir(probe.path, 0o700) == 0 else { return "cannot write \(existing): \(systemMessage(errno))" }
        rmdir(probe.path)
        return nil
    }
}

extension PrivateCluster {
    /// Returns the reason why a private cluster can't be started with that state directory, as far as it can be known
    /// before a start; nil if none is known.
    package static func refusal(stateDirectory: String) -> String? {
        if let reason = StateDirectoryCheck.refusal(stateDirectory) { return reason }
        return PostgresBinaries.installed().isEmpty ? PostgresBinaries.missing : nil
    }
}
