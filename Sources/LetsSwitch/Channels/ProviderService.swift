/// Where a courier stands with its provider.
enum ProviderService: Sendable, Hashable {
    /// The database doesn't know of this start yet.
    case starting
    /// The database has numbered it.
    case serving(start: Int)
    /// The provider's server said never again; the database is still to be told.
    case turnedAway(start: Int)
    /// Until the daemon starts anew. `isForAll`: nobody else served it, so nothing is written for it.
    case off(isForAll: Bool)

    var isServing: Bool {
        if case .serving = self { true } else { false }
    }
}
