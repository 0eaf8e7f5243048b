/// Lets a few journeys run at a time: all of them at once would wait for one another's databases and processors, and what
/// is due within a second would be late for that reason alone.
actor JourneyLimit {
    static let shared = JourneyLimit(4)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ places: Int) {
        free = places
    }

    func enter() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        guard !waiting.isEmpty else {
            free += 1
            return
        }
        waiting.removeFirst().resume()
    }
}
