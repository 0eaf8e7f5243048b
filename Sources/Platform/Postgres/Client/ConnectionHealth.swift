/// What a query's answer says about the connection it came on.
enum ConnectionHealth {
    case healthy
    /// A prepared statement no longer fits the schema, or is gone: the connection is to be replaced.
    case stale
    /// It may not write. Another may: the old one remembers what was so when it was opened, or has found a standby.
    case readOnly

    /// While the database is read-only all of them are: one a second is enough to find out.
    private static let readOnlyAge: Duration = .seconds(1)

    /// Whether a connection of this age should take no more queries.
    func asksForReplacement(age: Duration) -> Bool {
        switch self {
        case .healthy: false
        case .stale: true
        case .readOnly: age >= Self.readOnlyAge
        }
    }

    /// Whether another of the same pool, of this age, should neither.
    func asksForReplacementOfOthers(age: Duration) -> Bool {
        self == .readOnly && age >= Self.readOnlyAge
    }
}
