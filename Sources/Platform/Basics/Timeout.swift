/// Performs `work`. If the work takes longer than `limit`, calls `onTimeout`, which should end the work. Waits for the
/// work in any case.
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
    /// Waits until this task has ended, `limit` has passed, or the caller's task is cancelled. This task isn't
    /// cancelled.
    ///
    /// - Returns: Whether this task has ended.
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
