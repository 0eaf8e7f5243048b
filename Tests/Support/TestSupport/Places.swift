/// Places for a few at a time; the others wait, in the order in which they came. `make test` runs few tests at once, but `swift test` all
/// of them: they would wait for one another's databases, browsers and processors, and what is due within a second would be late for that
/// reason alone.
package actor Places {
    /// For tests with daemons and their own database.
    package static let journeys = Places(8)
    /// For tests with browsers, which need more CPU.
    package static let browsers = Places(6)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init(_ places: Int) {
        free = places
    }

    /// Does `body` in a place, as soon as there is one.
    package func hold<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        await enter()
        do {
            let result = try await body()
            await leave()
            return result
        } catch {
            await leave()
            throw error
        }
    }

    private func enter() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        guard !waiting.isEmpty else {
            free += 1
            return
        }
        waiting.removeFirst().resume()
    }
}
