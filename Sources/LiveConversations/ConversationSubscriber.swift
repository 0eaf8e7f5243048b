import Basics
import Domain
import FoundationEssentials
package import Messaging
package import Rooms
import Server
package import Sockets

/// What a subscriber's events leave by: a WebSocket of its own, an event stream, or a channel of another protocol.
package protocol ConversationSink: AnyObject {
    func send(_ event: ConversationEvent)
    /// Messages of a page, the last ones of it.
    ///
    /// - Parameter shared: What others hear too; `nil` for what is read for this one alone.
    func send(_ messages: ArraySlice<ConversationMessage>, of page: ConversationPage, _ shared: Publication?)
    /// ``ConversationSubscriber/drained()`` is to be called once the peer has what was sent.
    func reportDrain()
    /// The subscriber breaks the rules, or is not to be here any more.
    func end(_ cause: ConversationSinkEnd)
}

package enum ConversationSinkEnd {
    /// More messages wait than may.
    case tooFast
    /// Its device was erased.
    case erased
    /// Its ticket is over.
    case expired
}

/// One peer that hears all conversations of a device, on its loop.
///
/// ```
/// opening (what is published is noted) ──positions──► hearing: what was missed, then what is said
/// ```
package final class ConversationSubscriber: Peer {
    /// What waits for the database, of one peer; as many as may be said at once.
    private static let waitingLimit = 200

    private enum State {
        /// It is asked where its conversations stand. What is published meanwhile is told by that, or looked for after it.
        case opening
        case hearing(ConversationProgress, isReading: Bool)
    }

    let member: ConversationMember
    /// The user that it is; whose room it is in.
    private(set) var user: String
    let number: ConversationShard.Number
    /// Where it begins.
    private let after: [UUID: Int]
    private let sink: any ConversationSink
    private unowned let shard: ConversationShard
    /// ``ConversationShard``'s to set.
    var connection: Connection?
    /// The same: its ticket's end.
    var expiry: TimerID?
    private var state = State.opening
    /// Something was published before it knew where it stands.
    private var mayHaveMissed = false
    /// What it said and the database hasn't heard yet; the first is on its way.
    private var waiting: [ConversationCommand] = []

    init(
        _ member: ConversationMember, user: String, after: [UUID: Int], _ number: ConversationShard.Number,
        _ sink: any ConversationSink, on shard: ConversationShard
    ) {
        self.member = member
        self.user = user
        self.after = after
        self.number = number
        self.sink = sink
        self.shard = shard
    }

    // MARK: What it says

    /// Whoever lets it speak has let it pay.
    package func received(_ command: ConversationCommand) {
        guard waiting.count < Self.waitingLimit else { return sink.end(.tooFast) }
        waiting.append(command)
        if waiting.count == 1 { shard.perform(command, for: self) }
    }

    /// What it said first is done.
    func done(_ event: ConversationEvent) {
        sink.send(event)
        if !waiting.isEmpty { waiting.removeFirst() }
        if let next = waiting.first { shard.perform(next, for: self) }
    }

    func end(_ cause: ConversationSinkEnd) { sink.end(cause) }

    // MARK: What it hears

    package func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes) {}
    package func roomClosed() {}

    package func deliver(_ publication: Publication) {
        guard let page = (publication.message as? ConversationPublication)?.page, member.allows(page.conversation)
        else { return }
        guard case .hearing(var progress, let isReading) = state else {
            mayHaveMissed = true
            return
        }
        let messages = progress.published(page)
        state = .hearing(progress, isReading: isReading)
        if !messages.isEmpty { sink.send(messages, of: page, publication) }
        proceed()
    }

    /// What where its conversations stand says of who it is.
    enum Opening {
        case opened
        /// The device has another name than it had: it is to hear in that one's room.
        case otherUser
    }

    /// Where its conversations stand.
    func opened(_ positions: ConversationPositions) -> Opening {
        // Names are of ASCII.
        guard positions.user == user else {
            user = positions.user
            if case .opening = state { return .otherUser }
            // It was erased, and is somebody else since.
            end(.erased)
            return .opened
        }
        let allowed = positions.offsets.filter { member.allows($0.conversation) }
        switch state {
        case .opening:
            state = .hearing(ConversationProgress(allowed, after: after), isReading: false)
            sink.send(.handshake(id: UUID(), ConversationPositions(user: positions.user, offsets: allowed)))
            if mayHaveMissed { shard.readPositions(for: self) }
        case .hearing(var progress, let isReading):
            progress.found(allowed)
            state = .hearing(progress, isReading: isReading)
        }
        proceed()
        return .opened
    }

    /// Reads what it is behind, if anything, a page at a time.
    private func proceed() {
        guard case .hearing(let progress, false) = state, let next = progress.next else { return }
        state = .hearing(progress, isReading: true)
        shard.readPage(of: next.conversation, after: next.after, for: self)
    }

    /// - Parameter page: `nil`: it is none of the device's conversations any more.
    func take(_ page: ConversationPage?, of conversation: UUID) {
        guard case .hearing(var progress, true) = state else { return }
        guard let page else {
            progress.forget(conversation)
            state = .hearing(progress, isReading: false)
            return proceed()
        }
        let messages = progress.read(page)
        guard !messages.isEmpty else {
            state = .hearing(progress, isReading: false)
            return proceed()
        }
        state = .hearing(progress, isReading: true)
        sink.send(messages, of: page, nil)
        // More is read once the peer has that.
        sink.reportDrain()
    }

    /// The peer has taken what was sent.
    package func drained() {
        guard case .hearing(let progress, true) = state else { return }
        state = .hearing(progress, isReading: false)
        proceed()
    }
}
