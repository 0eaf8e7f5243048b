import ActionCable
import Domain
import FoundationEssentials
import Observability
import Reminders
import Rooms
import Sockets
import Wire

/// A subscription to a match's room. A connection may have several subscriptions to the same room. None of them
/// receives the ales that the connection sends.
final class RoomSubscription: CableSubscription, RoomPeer {
    /// The user, as identified by the client.
    enum Person {
        /// The user's task. ``AleController`` uses the same identity, so a user with connections of both kinds counts
        /// once.
        case task(UUID)
        case device(DeviceID)
    }

    private static let closed = CableContent("closed")

    private let room: UUID
    private let matches: MatchRooms
    private unowned let transport: SubscriptionTransport
    private let person: Person?
    private let wantsPresence: Bool
    private var member: Member?
    private var waiting = WaitingAles()

    init(
        to room: UUID, _ matches: MatchRooms, by transport: SubscriptionTransport, person: Person?, wantsPresence: Bool
    ) {
        self.room = room
        self.matches = matches
        self.transport = transport
        self.person = person
        self.wantsPresence = wantsPresence
    }

    // MARK: Entering and leaving

    /// Enters the room when the request rate of the client's address allows it. Each entry is written to the database
    /// through a queue that all rooms share.
    func open() {
        guard transport.mayAsk() else { return transport.retry { [weak self] in self?.open() } }
        enter()
    }

    private func enter() {
        member = transport.sender.enter(room, self, policy: matches.policy, claimedIdentity: claimedIdentity) {
            [weak self] decision in
            guard let self else { return }
            switch decision {
            case .open:
                transport.confirm()
            case .full:
                matches.metrics.turnedAway.add()
                transport.reject()
            case .refused:
                transport.reject()
            case .fullUnlessTask:
                ask { [matches, room] in try await matches.learnTasks(of: room) }
            case .unknown:
                ask { [matches, room] in try await matches.learn(of: room) }
            }
        }
        // Watches presence right after entering, so that the first count comes before other messages of the room.
        if wantsPresence { member?.watchPresence() }
    }

    /// The identity in the room. Computed only when the subscriber enters, because the rooms' keys may still be unknown
    /// before.
    private var claimedIdentity: UUID? {
        switch person {
        case .task(let task)?: task
        case .device(let device)?: matches.keys.device(device)
        case nil: nil
        }
    }

    /// Asks the database, and then tries again to enter.
    private func ask(_ question: @escaping @Sendable () async throws -> Void) {
        transport.run(question) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .success: enter()
            case .failure(let error) where matches.isRefusal(error): transport.reject()
            // While the database is unavailable, the client waits as on a slow network.
            case .failure: transport.retry { [weak self] in self?.ask(question) }
            }
        }
    }

    func end() {
        member?.leave()
        member = nil
    }

    // MARK: Commands

    func perform(_ action: CableAction) throws(CableActionError) {
        guard action.isNamed("ale") else { throw .unknownAction }
        member?.cheer(CheerKind(named: action.members.string("kind") ?? []))
    }

    func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes) {
        matches.metrics.alesLeftOut.add(waiting.add(count, of: kind))
        sendWaiting()
    }

    private func sendWaiting() {
        while transport.hasRoom, let (frame, times) = waiting.next(by: transport) {
            transport.send(frame: frame, times: times)
        }
        transport.reportsDrain = !waiting.isEmpty
    }

    func allSent() { sendWaiting() }

    func deliver(_ publication: Publication) {
        if publication.message is PersonErased { return transport.revoke() }
        // A subscriber without a task is identified by its device, and has no partner.
        let hasPartner = if case .task? = person { true } else { false }
        guard let content = RoomContents.content(of: publication.message, toPartner: hasPartner) else { return }
        transport.send(frame: transport.sharedFrame(of: content))
    }

    func roomClosed() {
        transport.send(Self.closed)
        transport.end()
    }
}
