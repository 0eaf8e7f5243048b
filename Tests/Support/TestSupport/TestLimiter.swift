/// Lets a limited number of tests run at the same time. The others wait in the order of their arrival. `make test` runs
/// few tests at once, but `swift test` runs all: then they would slow each other down, and exceed limits of a second
/// for that reason alone.
package actor TestLimiter {
    /// For tests with daemons and their own database.
    package static let journeys = TestLimiter(8)
    /// For tests with browsers, which need more CPU.
    package static let browsers = TestLimiter(6)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init(_ places: Int) {
        free = places
    }

    /// Runs `body` as soon as a place is free.
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
