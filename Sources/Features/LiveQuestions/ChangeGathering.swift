import Basics

/// When a session's changes are read, and told to those who follow it: at once after a pause, and then every quarter of a second at most,
/// however many come. A value; `QuestionFeeds` does what it says.
///
/// | state   | a change                | the time has come | read             | failed            |
/// |---------|-------------------------|-------------------|------------------|-------------------|
/// | idle    | → reading, or → waiting | | | |
/// | waiting | → waiting               | → reading         |                  |                   |
/// | reading | → reading, and again    |                   | → idle, waiting  | → waiting, longer |
struct ChangeGathering {
    /// Between two publications.
    static let interval = Duration.milliseconds(250)
    /// After a reading that failed.
    static let retryInterval = Duration.seconds(1)

    enum Action: Equatable {
        case none
        /// ``timeHasCome()`` is to be called after so long.
        case wait(Duration)
        /// What comes after this version is to be read.
        case read(after: Int)
    }

    private enum State {
        case idle, waiting, reading
    }

    /// Up to here all has been told.
    private(set) var published: Int
    /// Up to here there is something, as somebody said.
    private(set) var known: Int
    /// The same when the reading began that is under way: what it finds is the truth, unless somebody said more since.
    private var knownThen: Int
    /// There may be something: nobody knows.
    private var isDoubtful = false
    private var state = State.idle
    /// When it was last told.
    private var last: MonotonicTime?

    /// - Parameter version: The session's, when the first came to follow it.
    init(from version: Int) {
        published = version
        known = version
        knownThen = version
    }

    /// The session has come to a version; `nil` if nobody knows to which.
    mutating func changed(to version: Int?, at now: MonotonicTime) -> Action {
        if let version { known = max(known, version) } else { isDoubtful = true }
        guard case .idle = state else { return .none }
        return proceed(at: now)
    }

    mutating func timeHasCome() -> Action {
        guard case .waiting = state else { return .none }
        return read()
    }

    /// It was read and told.
    ///
    /// - Parameters:
    ///   - through: Up to which version.
    ///   - version: The session's when it was read.
    ///   - more: Whether something of it is yet to be told.
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
