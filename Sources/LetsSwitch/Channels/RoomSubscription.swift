import Access
import ActionCable
import Domain
import FoundationEssentials
import LiveSchedule
import Observability
import Rooms
import Scheduling
import Server
import Sockets
import Wire

/// A place in a match's room. Nobody is told of ales that its own connection sends, by whichever subscription.
final class RoomSubscription: CableSubscription, RoomPeer {
    /// Who is there, as far as it says so.
    enum Person {
        /// As ``AleController`` knows people: who comes by both doors is one.
        case task(UUID)
        case device(DeviceID, RoomKeys)

        /// Made when it is needed: the rooms' keys may not have been read before.
        var identity: UUID {
            switch self {
            case .task(let task): task
            case .device(let device, let keys): keys.device(device)
            }
        }
    }

    private static let ales = CheerKind.allCases.map { kind in
        CableContent("aleResponse") { data in data.member("kind", kind.name.map { "\($0)" }) }
    }
    private static let closed = CableContent("closed")

    private let room: UUID
    private let matches: MatchRooms
    private unowned let outlet: SubscriptionOutlet
    private let person: Person?
    private let wantsPresence: Bool
    private var member: Member?
    private var waiting = WaitingAles()
    /// Those that it was sent yet.
    private var aleFrames: [CheerKind: SharedBytes] = [:]

    init(to room: UUID, _ matches: MatchRooms, by outlet: SubscriptionOutlet, person: Person?, wantsPresence: Bool) {
        self.room = room
        self.matches = matches
        self.outlet = outlet
        self.person = person
        self.wantsPresence = wantsPresence
    }

    // MARK: Coming and going

    func enter() {
        member = outlet.sender.enter(room, self, policy: matches.policy, claimedIdentity: person?.identity) {
            [weak self] in self?.entered($0)
        }
        // At once, so that nothing that is said in the room comes before it.
        if wantsPresence { member?.watchPresence() }
    }

    private func entered(_ decision: EntryDecision) {
        switch decision {
        case .open:
            outlet.confirm()
        case .full:
            matches.metrics.turnedAway.add()
            outlet.reject()
        case .refused:
            outlet.reject()
        case .unknown:
            ask()
        }
    }

    private func ask() {
        outlet.run { [matches, room] in
            try await matches.learn(of: room)
        } then: { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .success: enter()
            case .failure(let refusal as Abort) where refusal.status.code < 500: outlet.reject()
            // The database is away: the client waits, as it would for a slow network.
            case .failure: outlet.call(after: CableLimits.retryPause) { [weak self] in self?.ask() }
            }
        }
    }

    func end() {
        member?.leave()
        member = nil
    }

    // MARK: What is said

    func perform(_ action: CableAction) throws(CableActionError) {
        guard action.isNamed("ale") else { throw .unknownAction }
        member?.cheer(CheerKind(named: action.members.string("kind") ?? []))
    }

    func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes) {
        matches.metrics.alesLeftOut.add(waiting.add(count, of: kind))
        sendWaiting()
    }

    /// As many as leave room in the connection's queue: its frames are longer than those of `/socket`, and whoever reads is not cut off for
    /// what others say.
    private func sendWaiting() {
        while outlet.hasRoom, let kind = waiting.first {
            let frame = aleFrame(kind)
            outlet.send(frame: frame, times: waiting.take(CableLimits.backlogBytes / frame.count, of: kind))
        }
        outlet.reportsDrain = !waiting.isEmpty
    }

    func allSent() { sendWaiting() }

    private func aleFrame(_ kind: CheerKind) -> SharedBytes {
        if let frame = aleFrames[kind] { return frame }
        let frame = outlet.sharedFrame(of: Self.ales[Int(kind.rawValue)])
        aleFrames[kind] = frame
        return frame
    }

    func deliver(_ publication: Publication) {
        if publication.message is PersonErased { return outlet.revoke() }
        if let rematch = publication.message as? Rematch {
            outlet.send(frame: outlet.sharedFrame(of: CableContent("rematched") { rematch.write(to: &$0) }))
        }
        guard let presence = publication.message as? PresenceCount else { return }
        // Whoever gave no task is known as a device here, and has no partner.
        let isSomebodys = if case .task? = person { true } else { false }
        let content = CableContent("presence") { data in
            data.member("count", presence.count)
            if isSomebodys { data.member("partner", presence.partner?.rawValue) }
        }
        outlet.send(frame: outlet.sharedFrame(of: content))
    }

    func roomClosed() {
        outlet.send(Self.closed)
        outlet.end()
    }
}
