/// The state of a connection, judged by the result of a query.
enum ConnectionHealth {
    case healthy
    /// A prepared statement no longer fits the schema, or is gone. The connection must be replaced.
    case stale
    /// The connection can't write. A new one may: an old connection keeps settings from its start, or reached a
    /// standby.
    case readOnly

    /// While the database is read-only, all connections are. Replacing one per second is enough to find out.
    private static let readOnlyAge: Duration = .seconds(1)

    /// Whether a connection of this age should be replaced.
    func asksForReplacement(age: Duration) -> Bool {
        switch self {
        case .healthy: false
        case .stale: true
        case .readOnly: age >= Self.readOnlyAge
        }
    }

    /// Whether other connections of the pool, of this age, should be replaced too.
    func asksForReplacementOfOthers(age: Duration) -> Bool {
        self == .readOnly && age >= Self.readOnlyAge
    }
}
