/// The state of a connection, according to the result of a query.
enum ConnectionHealth {
    case healthy
    /// A prepared statement doesn't fit the schema any more, or doesn't exist any more. The connection must be
    /// replaced.
    case stale
    /// The connection can't write, but a new one might. An old connection keeps settings from its start, or it is
    /// connected to a standby.
    case readOnly

    /// The minimum age of a read-only connection that is replaced. While the database is read-only, all connections
    /// are. One new connection per second is enough to notice the end of this state.
    private static let readOnlyAge: Duration = .seconds(1)

    /// Whether a connection of this age should be replaced.
    func asksForReplacement(age: Duration) -> Bool {
        switch self {
        case .healthy: false
        case .stale: true
        case .readOnly: age >= Self.readOnlyAge
        }
    }

    /// Whether other connections of the pool that have this age should be replaced too.
    func asksForReplacementOfOthers(age: Duration) -> Bool {
        self == .readOnly && age >= Self.readOnlyAge
    }
}
