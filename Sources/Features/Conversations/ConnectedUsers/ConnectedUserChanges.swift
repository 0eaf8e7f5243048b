/// The changes of users with subscribers that aren't in the database yet. A value type: the current users are an
/// argument.
struct ConnectedUserChanges: Sendable, Hashable {
    struct Batch: Sendable, Hashable {
        let came: [String]
        let left: [String]
        var isEmpty: Bool { came.isEmpty && left.isEmpty }
    }

    /// The maximum number of users in one statement.
    private static let limit = 1_000

    /// The users whose first subscriber has entered or whose last one has left since the last write. Both may have
    /// happened.
    private var changed: Set<String> = []
    /// The users that the database lists for this daemon.
    private var known: Set<String> = []
    /// The users whose state in the database is unknown, because the outcome of a write was lost.
    private var uncertain: Set<String> = []

    mutating func add(_ user: String) { changed.insert(user) }

    /// Removes and returns the next batch to write.
    mutating func take(_ isHere: (String) -> Bool) -> Batch {
        let users = changed.prefix(Self.limit)
        changed.subtract(users)
        return Batch(
            came: users.filter { isHere($0) && (!known.contains($0) || uncertain.contains($0)) },
            left: users.filter { !isHere($0) && (known.contains($0) || uncertain.contains($0)) })
    }

    mutating func wrote(_ batch: Batch) {
        known.formUnion(batch.came)
        known.subtract(batch.left)
        uncertain.subtract(batch.came + batch.left)
    }

    /// Records a failed write. Its outcome is unknown, so these users are written again with their state at that time.
    mutating func failed(_ batch: Batch) {
        changed.formUnion(batch.came + batch.left)
        uncertain.formUnion(batch.came + batch.left)
    }

    /// Writes all users again, because the database may have lost its rows.
    mutating func repeatAll() {
        changed.formUnion(known)
        uncertain.formUnion(known)
    }

    var isEmpty: Bool { changed.isEmpty }
}
