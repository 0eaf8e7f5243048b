/// What the database doesn't know yet of those who listen here. A value: who is here is an argument.
struct ListenerChanges: Sendable, Hashable {
    struct Batch: Sendable, Hashable {
        let came: [String]
        let left: [String]
        var isEmpty: Bool { came.isEmpty && left.isEmpty }
    }

    /// Users in one statement.
    private static let limit = 1_000

    /// For whom the first has come or the last has gone since it was last told, perhaps both.
    private var changed: Set<String> = []
    /// Of whom the database knows that they are here.
    private var known: Set<String> = []
    /// Of whom it isn't known what the database knows: that was being written when it was lost.
    private var uncertain: Set<String> = []

    mutating func add(_ user: String) { changed.insert(user) }

    /// What is to be written next.
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

    /// Whether it was written isn't known: it is written again, as it stands then.
    mutating func failed(_ batch: Batch) {
        changed.formUnion(batch.came + batch.left)
        uncertain.formUnion(batch.came + batch.left)
    }

    /// The database may have forgotten what it was told: it is told anew of all.
    mutating func forgotten() {
        changed.formUnion(known)
        uncertain.formUnion(known)
    }

    var isEmpty: Bool { changed.isEmpty }
}
