/// Does `work`, and `onTimeout` besides if it isn't done within `limit`. Goes on waiting for it then: `onTimeout` is to end it,
/// if anything is.
package func withTimeout<Result>(
    _ limit: Duration, isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Result,
    onTimeout: @escaping @Sendable () async -> Void
) async rethrows -> Result {
    let timer = Task {
        guard (try? await Task.sleep(for: max(.zero, limit))) != nil else { return }
        await onTimeout()
    }
    defer { timer.cancel() }
    return try await work()
}

extension Task where Success == Void, Failure == Never {
    /// Waits for the end of this task, but no longer than `limit`, and no longer than until the waiting task is cancelled. This
    /// one goes on.
    ///
    /// - Returns: Whether it has ended.
    @discardableResult
    package func ends(within limit: Duration) async -> Bool {
        let (ends, end) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        Task<Void, Never> {
            await self.value
            end.yield()
            end.finish()
        }
        return await withTimeout(limit) {
            for await _ in ends { return true }
            return false
        } onTimeout: {
            end.finish()
        }
    }
}
