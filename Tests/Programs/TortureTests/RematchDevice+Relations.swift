import Domain
import Foundation
import JourneyTestSupport
import TestSupport

/// Invitations, preferences and blocks.
extension RematchDevice {
    /// A block keeps two devices apart as long as it exists, so each device has only one at a time.
    private static let maxRelations: [RelationLedger.Kind: Int] = [.preference: 2, .block: 1]

    // MARK: Invitations

    /// Returns a link of another device, mostly the newest, so that guests compete for it.
    func linkToAccept(using random: inout SeededRandom) async -> InvitationLedger.Link? {
        let links = await record.ledger.invitations.links.suffix(12).filter { $0.host != name }
        return Int.random(in: 0..<3, using: &random) > 0 ? links.last : links.randomElement(using: &random)
    }

    func invite(_ slot: Int, _ endpoint: ClientEndpoint) async {
        guard case .object(var task) = ClientEndpoint.task(name, Instant(seconds: slot), name) else { return }
        task["invite"] = .bool(true)
        let began = await record.begin()
        guard let response = await ask("POST", "/task", .object(task), endpoint, concerning: [key(slot)]) else {
            return await note { $0.invitations.mayHaveInvited(name, began: began) }
        }
        switch (response.status, response.code) {
        case (200, _), (201, _):
            guard let json = try? response.json(), let id = uuid(response, "id") else { return await object(response) }
            await note("invited") { $0.registered(key(slot), id, isNew: response.status == 201) }
            if let token = json["invitation"].string?.split(separator: "/").last {
                let link = InvitationLedger.Link(token: String(token), host: name, task: id)
                await note { $0.invitations.invited(link, began: began) }
            } else if json["isPaired"].bool == false, response.status == 201 {
                await object(response)
            }
        case (409, "registration_closed"): await note("refused") { $0.found(key(slot), absentBecause: .refused) }
        default: await object(response)
        }
    }

    func accept(_ link: InvitationLedger.Link, _ endpoint: ClientEndpoint) async {
        await record.meetGuest()
        // The host may move its task, so only the answer tells the start.
        let slots = await (0...(record.minute + Self.slotsAhead)).map(clock.slot)
        let request: TestJSON = ["deviceId": .string(name), "title": .string(name)]
        let began = await record.begin()
        let target = "/invitations/\(link.token)"
        guard let response = await ask("POST", target, request, endpoint, concerning: slots.map(key)) else {
            return await note { $0.invitations.mayHaveAccepted(link, device: name) }
        }
        switch (response.status, response.code) {
        case (200, _), (201, _):
            guard let json = try? response.json(), let id = uuid(response, "id"),
                let startsAt = json["startsAt"].string.flatMap({ Instant($0) })
            else { return await object(response) }
            await note("came along") {
                $0.registered(key(startsAt.seconds), id, isNew: response.status == 201)
                if response.status == 201 { $0.erasures.made(id, began: began) }
                let isHostErased = $0.erasures.mayErase(link.host, after: began)
                $0.invitations.accepted(
                    link, guest: id, device: name,
                    partner: json["partnerTitle"].string ?? (isHostErased ? link.host : nil), began: began)
            }
        case (404, "no_such_invitation"), (409, "registration_closed"), (409, "slot_taken"):
            await note("refused") { _ in }
        case (409, "invitation_used"): await note("too late as a guest") { _ in }
        default: await object(response)
        }
    }

    // MARK: Preferences and blocks

    /// Prefers or blocks the partner of a task. Undoes an existing preference or block if the device has enough of
    /// them.
    func makeRelation(_ kind: RelationLedger.Kind, _ task: UUID, _ endpoint: ClientEndpoint) async {
        let own = await record.ledger.relations.own(kind, of: name)
        if own.count >= Self.maxRelations[kind, default: 1], let known = own.first {
            return await undo(kind, known, endpoint)
        }
        let request: TestJSON = ["deviceId": .string(name), "taskId": .string(task.uuidString)]
        guard let response = await ask("POST", "/\(kind.rawValue)", request, endpoint, concerning: []) else {
            return await note { $0.relations.markUncertain(kind, of: name) }
        }
        switch (response.status, response.code) {
        case (200, _), (201, _):
            // The title is the name of the partner's device.
            guard let other = try? response.json()["title"].string, let id = uuid(response, "id") else {
                return await object(response)
            }
            await note("\(kind.rawValue) made") {
                $0.relations.made(kind, .init(device: name, other: other), id, isNew: response.status == 201)
            }
        case (404, "no_such_task"), (409, "no_partner"): await note("refused") { _ in }
        default: await object(response)
        }
    }

    private func undo(
        _ kind: RelationLedger.Kind, _ known: (other: String, id: UUID), _ endpoint: ClientEndpoint
    ) async {
        let relation = StoredSchedule.Relation(device: name, other: known.other)
        await note { $0.relations.undoes(kind, relation) }
        let target = "/\(kind.rawValue)/\(known.id.uuidString)?deviceId=\(name)"
        guard let response = await ask("DELETE", target, nil, endpoint, concerning: []) else {
            return await note { $0.relations.markUncertain(kind, of: name) }
        }
        switch response.status {
        case 200, 404:
            await note("\(kind.rawValue) undone") {
                $0.relations.undone(kind, relation, wasThere: response.status == 200)
            }
        default: await object(response)
        }
    }
}
