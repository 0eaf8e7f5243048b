import Postgres

/// Which database holds the tasks, as flags and environment name it.
///
/// First `--database-url` (or its variable), then `DATABASE_URL`, then what makes libpq's own variables name a
/// database; else a private cluster in the state directory.
package enum DatabaseChoice: Sendable, Hashable {
    /// A `postgresql://` URL or libpq's `key=value` form. May hold a password: never to be logged.
    case url(String)
    /// An empty conninfo: libpq reads `PGHOST` and its kin itself.
    case libpqEnvironment
    case privateCluster

    /// `PGUSER`, `PGPORT` and `PGPASSWORD` alone name no database: people export them for psql.
    package static let namingVariables = ["PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE"]

    /// What the environment says where no flag does.
    ///
    /// - Throws: ``UsageError`` naming `DATABASE_URL` when that is no URL.
    init(environment: [String: String]) throws(UsageError) {
        if let url = environment["DATABASE_URL"], !url.isEmpty {
            do {
                self = try DatabaseChoice(url: url)
            } catch {
                throw UsageError(source: "DATABASE_URL", error)
            }
        } else if Self.namingVariables.contains(where: { environment[$0]?.isEmpty == false }) {
            self = .libpqEnvironment
        } else {
            self = .privateCluster
        }
    }

    init(url: String) throws(InvalidValue) {
        guard ConnectionString.schemes.contains(where: { url.hasPrefix($0) }) || url.contains("=") else {
            throw InvalidValue(secret: "must be a URL like postgresql://user@host/database")
        }
        // Said here, since libpq's own words would quote it.
        guard ConnectionString.isReadable(url) else {
            throw InvalidValue(
                secret:
                    "libpq can't parse it. In a URL's user and password, every character except letters, digits and -._~ "
                    + "must be percent-encoded, such as %40 for @. Options must be ones that libpq knows.")
        }
        self = .url(url)
    }
}

extension DatabaseChoice: CustomStringConvertible {
    /// What the log may show: neither user nor password.
    package var description: String {
        switch self {
        case .privateCluster: return "private cluster"
        case .libpqEnvironment: return "the database that libpq's PG* variables name"
        case .url(let text):
            guard let scheme = ConnectionString.schemes.first(where: { text.hasPrefix($0) }) else {
                return "the database that --database-url names"
            }
            // By its scalars: a mark behind an @ or a ? makes it no other.
            let url = text.unicodeScalars.dropFirst(scheme.unicodeScalars.count)
            // User and password first: a ? may stand in them.
            let host = url.prefix { $0 != "/" }.lastIndex(of: "@").map { url[url.index(after: $0)...] } ?? url
            return "postgresql://\(Substring(host.prefix { $0 != "?" }))"
        }
    }
}
