import Domain
import Messaging

/// Counts votes, many in one statement: those that come while one is under way are counted together by the next.
///
/// No `BatchWriter`: nobody waits for what that one writes, and it tries again. Here each voter waits for the outcome of its own
/// vote, and is told at once that it couldn't be counted; the page votes again.
actor VoteCounter {
    /// Of one statement.
    private static let limit = 500
    /// Of more, the sender is told to come again.
    private static let waitingLimit = 10_000
    /// For others to come along with the first.
    private static let delay = Duration.milliseconds(20)

    private struct Waiting {
        let vote: Vote
        let continuation: CheckedContinuation<QuestionStore.VoteOutcome, any Error>
    }

    private let count: @Sendable ([Vote]) async throws -> [QuestionStore.VoteOutcome]
    private var waiting: [Waiting] = []
    private var isCounting = false

    init(_ count: @escaping @Sendable ([Vote]) async throws -> [QuestionStore.VoteOutcome]) {
        self.count = count
    }

    /// Returns once the vote is committed, or refused.
    func add(_ vote: Vote) async throws -> QuestionStore.VoteOutcome {
        guard waiting.count < Self.waitingLimit else { return .refused(.databaseUnavailable) }
        return try await withCheckedThrowingContinuation { continuation in
            waiting.append(Waiting(vote: vote, continuation: continuation))
            guard !isCounting else { return }
            isCounting = true
            Task { await countAll() }
        }
    }

    private func countAll() async {
        while !waiting.isEmpty {
            try? await Task.sleep(for: Self.delay)
            let some = Array(waiting.prefix(Self.limit))
            waiting.removeFirst(some.count)
            do {
                let outcomes = try await count(some.map(\.vote))
                for (vote, outcome) in zip(some, outcomes) { vote.continuation.resume(returning: outcome) }
            } catch {
                for vote in some { vote.continuation.resume(throwing: error) }
            }
        }
        isCounting = false
    }
}
