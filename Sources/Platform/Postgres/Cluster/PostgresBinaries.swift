import Glibc

/// An installation of the PostgreSQL server.
struct PostgresBinaries: Sendable, Equatable {
    let directory: String
    /// The major version, such as 15 for 15.4.
    let major: Int

    func path(_ program: String) -> String { "\(directory)/\(program)" }

    /// The error message if no installation is found.
    static let missing = "PostgreSQL's server is not installed: apt-get install postgresql"

    /// Debian's directory of installations, with a directory for each version.
    static let debian = "/usr/lib/postgresql"

    /// Returns the installation that `pg_config` names and those of Debian's packages, the newest first.
    static func installed() -> [PostgresBinaries] {
        var directories = Directory(path: debian).entries.map { "\(debian)/\($0)/bin" }
        if let configured = bindirOfPgConfig(), !directories.contains(configured) { directories.append(configured) }
        return directories.compactMap { PostgresBinaries(directory: $0) }.sorted { $0.major > $1.major }
    }

    /// Returns the installation for a data directory of version `existing`. Without one, returns the installation for
    /// new data.
    static func choose(
        for existing: Int?, data: Directory, user: ClusterUser, names: ClusterNames
    ) throws -> PostgresBinaries {
        let installed = installed()
        guard let newest = installed.first else {
            throw PrivateClusterError(missing)
        }
        guard let existing else { return newest }
        if let match = installed.first(where: { $0.major == existing }) { return match }
        throw PrivateClusterError(UpgradeAdvice(data: data, from: existing, to: newest, user: user, names: names).text)
    }

    /// Returns the path of a client program. Looks next to the server's programs, and then for a client without a
    /// server, such as Debian's `postgresql-client-15`.
    static func client(_ program: String, major: Int, in root: String = debian) -> String? {
        (installed().filter { $0.major == major }.map { $0.path(program) } + ["\(root)/\(major)/bin/\(program)"])
            .first { access($0, X_OK) == 0 }
    }

    /// Returns the major version of a data directory.
    static func version(ofData data: Directory) -> Int? {
        SmallFile.tail(data.appending("PG_VERSION").path).flatMap { Int($0.prefix { $0.isNumber }) }
    }

    private init?(directory: String) {
        self.directory = directory
        guard access("\(directory)/postgres", X_OK) == 0, access("\(directory)/initdb", X_OK) == 0 else { return nil }
        let components = directory.split(separator: "/")
        if directory.hasPrefix("\(Self.debian)/"), components.count == 5, let major = Int(components[3]) {
            self.major = major
        } else if let major = Self.major(of: "\(directory)/postgres") {
            self.major = major
        } else {
            return nil
        }
    }

    private static func bindirOfPgConfig() -> String? {
        guard let outcome = try? Subprocess(command: ["pg_config", "--bindir"]).run(timeout: .seconds(10)),
            outcome.succeeded
        else { return nil }
        return outcome.output.split(separator: "\n").first.map(String.init)
    }

    /// Returns the major version from a text such as "postgres (PostgreSQL) 15.4 (Debian 15.4-1)".
    private static func major(of program: String) -> Int? {
        guard let outcome = try? Subprocess(command: [program, "--version"]).run(timeout: .seconds(10)),
            outcome.succeeded, let version = outcome.output.split(separator: " ").dropFirst(2).first
        else { return nil }
        return Int(version.prefix { $0.isNumber })
    }
}
