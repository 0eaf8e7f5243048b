import Foundation

/// Who has invited in a run of partings, and who came along, by what their clients were told.
struct InvitationLedger {
    /// When a request may have taken effect: from before it was sent until its answer was there. One that had none may take effect at any
    /// time.
    struct Span: Equatable {
        let began: Int
        let ended: Int

        func mayPrecede(_ other: Span) -> Bool { began < other.ended }
    }

    /// Who has a link knows whose it is; the task keeps its id when it is moved.
    struct Link: Equatable {
        let token: String
        let host: String
        let task: UUID
    }

    private struct Acceptance {
        let guest: UUID
        let device: String
        let host: UUID
        let span: Span
    }

    private var time = 0
    /// The latest come last.
    private(set) var links: [Link] = []
    /// Answers that bore a link, by the host's task; and requests that may have given one a guest anew, by device.
    private var invitings: [UUID: [Span]] = [:]
    private var lostInvitings: [String: [Span]] = [:]
    private var acceptances: [Acceptance] = []
    /// When something last may have brought a task that invites, or was invited, to somebody else.
    private var moves: [UUID: Int] = [:]
    private var guests: [UUID: Int] = [:]
    private var lostGuests: Set<String> = []
    private(set) var objections: [String] = []

    // MARK: Answers

    /// Before a request is sent.
    mutating func begin() -> Int {
        time += 1
        return time
    }

    private mutating func span(_ began: Int) -> Span {
        time += 1
        return Span(began: began, ended: time)
    }

    /// A promise was made, or is there, that waits for its guest or did.
    mutating func invited(_ link: Link, began: Int) {
        if let known = links.first(where: { $0.task == link.task || $0.token == link.token }), known != link {
            objections.append("the link of \(link.host)'s \(link.task) was another's, or another")
        }
        links.removeAll { $0 == link }
        links.append(link)
        invitings[link.task, default: []].append(span(began))
    }

    mutating func mayHaveInvited(_ device: String, began: Int) {
        lostInvitings[device, default: []].append(Span(began: began, ended: .max))
    }

    /// - Parameters:
    ///   - guest: The guest's task.
    ///   - partner: Of which it was said to be the partner's.
    mutating func accepted(_ link: Link, guest: UUID, device: String, partner: String?, began: Int) {
        let span = span(began)
        if partner != link.host {
            objections.append("\(device) came to \(link.host), and was told of \(partner ?? "nobody")")
        }
        acceptances.append(Acceptance(guest: guest, device: device, host: link.task, span: span))
        guests[guest] = span.ended
        guests[link.task] = span.ended
    }

    mutating func mayHaveAccepted(_ link: Link, device: String) {
        guests[link.task] = .max
        lostGuests.insert(device)
    }

    /// - Parameter isCertain: Whether there was an answer.
    mutating func moved(_ task: UUID, isCertain: Bool) {
        time += 1
        moves[task] = max(moves[task] ?? 0, isCertain ? time : .max)
    }

    // MARK: Judging

    /// For a moment at which nothing is under way, and before anything starts.
    ///
    /// - Parameter hold: Seconds before the lead from which on whoever invites may be anybody's partner.
    func violations(in stored: StoredSchedule, hold: Int) -> [String] {
        let tasks = Dictionary(stored.tasks.map { ($0.id, $0) }) { first, _ in first }
        return objections + doubleUses() + lostGuests(in: tasks) + intruders(in: tasks, now: stored.now, hold: hold)
    }

    /// Two came by one link, and nobody can have had it wait for a guest anew in between.
    private func doubleUses() -> [String] {
        Dictionary(grouping: acceptances, by: \.host).flatMap { host, all in
            let all = all.sorted { $0.span.began < $1.span.began }
            let device = links.first { $0.task == host }?.host ?? ""
            let renewals = invitings[host, default: []] + lostInvitings[device, default: []]
            return zip(all, all.dropFirst()).compactMap { one, next in
                let isRenewed = renewals.contains { one.span.mayPrecede($0) && $0.mayPrecede(next.span) }
                return one.guest == next.guest || isRenewed
                    ? nil : "\(one.device) and \(next.device) have used the same invitation of \(device)"
            }
        }
    }

    /// Who came by a link is the host's partner as long as both are there, unless one has moved since.
    private func lostGuests(in tasks: [UUID: StoredSchedule.Task]) -> [String] {
        acceptances.compactMap { acceptance in
            guard let guest = tasks[acceptance.guest], let host = tasks[acceptance.host],
                [guest.id, host.id].allSatisfy({ moves[$0, default: 0] < acceptance.span.began }),
                guest.partner != host.id
            else { return nil }
            return "\(guest.device) came to \(host.device) at \(host.slot), and has \(guest.partnerDevice ?? "nobody")"
        }
    }

    /// Who waits for a guest has no partner before one has come.
    private func intruders(in tasks: [UUID: StoredSchedule.Task], now: Int, hold: Int) -> [String] {
        invitings.compactMap { id, spans in
            // Somebody who was erased may have come along to another before.
            guard let last = spans.last, let host = tasks[id], !host.isErased, let partner = host.partnerDevice,
                now < host.remindsAt - hold, moves[id, default: 0] < last.began, guests[id, default: 0] < last.began,
                !lostGuests.contains(host.device)
            else { return nil }
            return "\(host.device) at \(host.slot) waits for a guest, and has \(partner)"
        }
    }

    /// From now on what is there counts: what may have taken effect has, or won't.
    mutating func rebase(on stored: StoredSchedule) {
        time += 1
        for task in stored.tasks where task.partner != nil { guests[task.id] = time }
        for (task, moment) in moves where moment == .max { moves[task] = time }
        for (task, moment) in guests where moment == .max { guests[task] = time }
        lostGuests = []
        for (device, spans) in lostInvitings {
            lostInvitings[device] = spans.map { Span(began: $0.began, ended: min($0.ended, time)) }
        }
    }
}
