import Features
import Postgres

/// The database that holds the tasks, chosen by flags and environment.
///
/// `--database-url` or its variable comes first, then `DATABASE_URL`, then libpq's variables if they name a database.
/// Without any of these, the database is a private cluster in the state directory.
package enum DatabaseChoice: Sendable, Hashable {
    /// A `postgresql://` URL or libpq's `key=value` form. May contain a password, so it must not be logged.
    case url(String)
    /// An empty conninfo: libpq reads `PGHOST` and its other variables itself.
    case libpqEnvironment
    case privateCluster

    /// The variables that name a database. `PGUSER`, `PGPORT` and `PGPASSWORD` don't, because people set them for psql.
    package static let namingVariables = ["PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE"]

    /// Reads the environment, for a daemon without `--database-url`.
    ///
    /// - Throws: ``UsageError`` that names `DATABASE_URL` if it isn't a URL.
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
        // Checked here, because libpq's message would quote the value.
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
    /// A text for the log, without user and password.
    package var description: String {
        switch self {
        case .privateCluster: return "private cluster"
        case .libpqEnvironment: return "the database that libpq's PG* variables name"
        case .url(let text):
            guard let scheme = ConnectionString.schemes.first(where: { text.hasPrefix($0) }) else {
                return "the database that --database-url names"
            }
            // Compares Unicode scalars, because a combining mark after an @ or a ? would form another character.
            let url = text.unicodeScalars.dropFirst(scheme.unicodeScalars.count)
            // Removes user and password first, because they may contain a ?.
            let host = url.prefix { $0 != "/" }.lastIndex(of: "@").map { url[url.index(after: $0)...] } ?? url
            return "postgresql://\(Substring(host.prefix { $0 != "?" }))"
        }
    }
}
