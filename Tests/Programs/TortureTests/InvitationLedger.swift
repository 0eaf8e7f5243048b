import Foundation

/// The invitations and guests of a rematch run, according to the answers to the clients.
struct InvitationLedger {
    /// The span in which a request may have taken effect: from before it was sent until its answer. A request without
    /// an answer may take effect at any time.
    struct Span: Equatable {
        let began: Int
        let ended: Int

        func mayPrecede(_ other: Span) -> Bool { began < other.ended }
    }

    /// An invitation's link, its host, and the host's task. The task keeps its id when it is moved.
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
    /// In order, the latest last.
    private(set) var links: [Link] = []
    /// Answers with a link, by the host's task. Requests without an answer that may have renewed an invitation, by
    /// device.
    private var invitings: [UUID: [Span]] = [:]
    private var lostInvitings: [String: [Span]] = [:]
    private var acceptances: [Acceptance] = []
    /// The last time at which a move or a guest may have given a task another partner.
    private var moves: [UUID: Int] = [:]
    private var guests: [UUID: Int] = [:]
    private var lostGuests: Set<String> = []
    private(set) var objections: [String] = []

    // MARK: Answers

    /// Returns the time before a request is sent.
    mutating func begin() -> Int {
        time += 1
        return time
    }

    private mutating func span(_ began: Int) -> Span {
        time += 1
        return Span(began: began, ended: time)
    }

    /// Notes an answer with the link of a task that waits for its guest, or did.
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
    ///   - partner: The partner's title in the answer.
    mutating func accepted(_ link: Link, guest: UUID, device: String, partner: String?, began: Int) {
        let span = span(began)
        if partner != link.host {
            objections.append("\(device) came to \(link.host), and was matched with \(partner ?? "nobody")")
        }
        acceptances.append(Acceptance(guest: guest, device: device, host: link.task, span: span))
        guests[guest] = span.ended
        guests[link.task] = span.ended
    }

    mutating func mayHaveAccepted(_ link: Link, device: String) {
        guests[link.task] = .max
        lostGuests.insert(device)
    }

    /// - Parameter isCertain: Whether the request was answered.
    mutating func moved(_ task: UUID, isCertain: Bool) {
        time += 1
        moves[task] = max(moves[task] ?? 0, isCertain ? time : .max)
    }

    // MARK: Judging

    /// Returns the violations. No request may be in progress, and no task may have started.
    ///
    /// - Parameter hold: The number of seconds before the lead from which on a host may be matched with anybody.
    func violations(in stored: StoredSchedule, hold: Int) -> [String] {
        let tasks = Dictionary(stored.tasks.map { ($0.id, $0) }) { first, _ in first }
        return objections + doubleUses() + lostGuests(in: tasks) + intruders(in: tasks, now: stored.now, hold: hold)
    }

    /// Returns guests that used the same link, although no request can have renewed the invitation in between.
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

    /// Returns guests that aren't the host's partner, although both tasks exist and neither was moved since.
    private func lostGuests(in tasks: [UUID: StoredSchedule.Task]) -> [String] {
        acceptances.compactMap { acceptance in
            guard let guest = tasks[acceptance.guest], let host = tasks[acceptance.host],
                [guest.id, host.id].allSatisfy({ moves[$0, default: 0] < acceptance.span.began }),
                guest.partner != host.id
            else { return nil }
            return "\(guest.device) came to \(host.device) at \(host.slot), and has \(guest.partnerDevice ?? "nobody")"
        }
    }

    /// Returns hosts that have a partner, although they wait for a guest and none has accepted.
    private func intruders(in tasks: [UUID: StoredSchedule.Task], now: Int, hold: Int) -> [String] {
        invitings.compactMap { id, spans in
            // An erased host may have accepted another invitation before.
            guard let last = spans.last, let host = tasks[id], !host.isErased, let partner = host.partnerDevice,
                now < host.remindsAt - hold, moves[id, default: 0] < last.began, guests[id, default: 0] < last.began,
                !lostGuests.contains(host.device)
            else { return nil }
            return "\(host.device) at \(host.slot) waits for a guest, and has \(partner)"
        }
    }

    /// Makes the stored data the basis of later checks. Requests without an answer have taken effect by now, or never
    /// will.
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
