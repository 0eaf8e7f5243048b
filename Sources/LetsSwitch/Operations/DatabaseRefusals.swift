import Basics
import Synchronization

/// When the database last was there and refused to do its work: read-only, full, in trouble with its files.
///
/// Only those who write notice a full disk, and only some of them: as long as any of them does, the database isn't ready. Any
/// thread.
final class DatabaseRefusals: Sendable {
    /// How long a refusal counts; as long as requests come and are refused, there is a next one by then.
    static let memory = Duration.seconds(2)

    /// Nanoseconds of the monotonic clock; 0 for never.
    private let last = Atomic<UInt64>(0)

    /// - Returns: Whether it is news: the first for a while.
    func note(at now: MonotonicTime) -> Bool {
        let before = last.exchange(now.nanoseconds, ordering: .relaxed)
        return before == 0 || now - MonotonicTime(nanoseconds: before) > Self.memory
    }

    func isRecent(at now: MonotonicTime) -> Bool {
        let last = last.load(ordering: .relaxed)
        return last > 0 && now - MonotonicTime(nanoseconds: last) <= Self.memory
    }
}
