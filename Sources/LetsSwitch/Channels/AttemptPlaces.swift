/// How many attempts of a provider may be under way at once, and who may take the places: what isn't urgent has half of them at
/// most, so that reminders find one whatever hangs. A value.
struct AttemptPlaces {
    let count: Int
    private var urgent = 0
    private var others = 0

    /// - Parameter count: One at least. A single place is everybody's.
    init(count: Int) {
        self.count = max(1, count)
    }

    var taken: Int { urgent + others }

    static func forOthers(of count: Int) -> Int { max(1, count / 2) }

    /// Whether one more may begin.
    func admits(isUrgent: Bool) -> Bool {
        taken < count && (isUrgent || others < Self.forOthers(of: count))
    }

    mutating func begin(isUrgent: Bool) {
        if isUrgent { urgent += 1 } else { others += 1 }
    }

    mutating func end(isUrgent: Bool) {
        if isUrgent { urgent -= 1 } else { others -= 1 }
    }
}
