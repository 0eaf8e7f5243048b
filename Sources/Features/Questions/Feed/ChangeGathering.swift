import Basics

/// Decides when a session's changes are read and published: immediately if the last publication is a quarter of a
/// second ago, otherwise when that time has passed. A value type, whose actions `QuestionFeeds` performs.
///
/// | state   | a change                | the time has come | read             | failed            |
/// |---------|-------------------------|-------------------|------------------|-------------------|
/// | idle    | → reading, or → waiting |                   |                  |                   |
/// | waiting | → waiting               | → reading         |                  |                   |
/// | reading | → reading, and again    |                   | → idle, waiting  | → waiting, longer |
struct ChangeGathering {
    /// The minimum time between two publications.
    static let interval = Duration.milliseconds(250)
    /// The pause after a failed read.
    static let retryInterval = Duration.seconds(1)

    enum Action: Equatable {
        case none
        /// Call ``timeHasCome()`` after this time.
        case wait(Duration)
        /// Read the changes after this version.
        case read(after: Int)
    }

    private enum State {
        case idle, waiting, reading
    }

    /// The version up to which all changes were published.
    private(set) var published: Int
    /// The highest version that was announced.
    private(set) var known: Int
    /// The value of `known` when the current read began. If no later version is announced during the read, `known`
    /// becomes the version that the read returns.
    private var knownThen: Int
    /// Whether there may be changes whose version is unknown.
    private var isDoubtful = false
    private var state = State.idle
    /// The time of the last publication.
    private var last: MonotonicTime?

    /// - Parameter version: The session's version when its first subscriber entered.
    init(from version: Int) {
        published = version
        known = version
        knownThen = version
    }

    /// Records that the session has changed. `version` is `nil` if the new version is unknown.
    mutating func changed(to version: Int?, at now: MonotonicTime) -> Action {
        if let version { known = max(known, version) } else { isDoubtful = true }
        guard case .idle = state else { return .none }
        return proceed(at: now)
    }

    mutating func timeHasCome() -> Action {
        guard case .waiting = state else { return .none }
        return read()
    }

    /// Records a publication.
    ///
    /// - Parameters:
    ///   - through: The version up to which changes were published.
    ///   - version: The session's version when it was read.
    ///   - more: Whether changes of this read are still unpublished.
    mutating func published(through: Int, of version: Int, more: Bool = false, at now: MonotonicTime) -> Action {
        published = through
        if more { isDoubtful = true }
        if known == knownThen { known = version }
        last = now
        state = .idle
        return proceed(at: now)
    }

    mutating func failed() -> Action {
        isDoubtful = true
        state = .waiting
        return .wait(Self.retryInterval)
    }

    private mutating func proceed(at now: MonotonicTime) -> Action {
        guard known > published || isDoubtful else { return .none }
        if let last, now - last < Self.interval {
            state = .waiting
            return .wait(Self.interval - (now - last))
        }
        return read()
    }

    private mutating func read() -> Action {
        state = .reading
        isDoubtful = false
        knownThen = known
        return .read(after: published)
    }
}
