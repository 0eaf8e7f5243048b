import Domain
import Foundation
import JourneyTestSupport
import TestSupport

/// A device in a rematch run.
///
/// It registers, also late, cancels, leaves and moves tasks, and begins and ends series. It invites, accepts
/// invitations, prefers and blocks other devices, and is erased. After a start it enters rooms and reports that it has
/// started. It reads its days whenever it is notified of a change.
struct RematchDevice: Sendable {
    /// A longer wait for an answer is an error, because the daemon's own limits are lower.
    private static let timeout = Duration.seconds(30)
    static let pause = Duration.milliseconds(5)
    /// The number of slots whose lead is over, which can be joined late, and the number of slots ahead.
    static let slotsBehind = 2
    static let slotsAhead = 5

    let name: String
    let world: TortureWorld
    let clock: TortureClock
    let record: RematchRecord

    func key(_ slot: Int) -> RematchLedger.Key { .init(device: name, slot: slot) }

    // MARK: Tasks

    /// Sends requests until it is cancelled. Then completes the last request.
    func work(_ random: SeededRandom) async {
        var random = random
        while !Task.isCancelled {
            guard let endpoint = await world.endpoint(using: &random) else {
                try? await Task.sleep(for: Self.pause)
                continue
            }
            let minute = await record.minute
            let slot = clock.slot(
                max(0, minute + Int.random(in: -Self.slotsBehind...Self.slotsAhead, using: &random)))
            let own = await record.ledger.tasks(of: name).randomElement(using: &random)
            let choice = Int.random(in: 0..<16, using: &random)
            let isErased = Int.random(in: 0..<24, using: &random) == 0
            let link = await linkToAccept(using: &random)
            // A request that has begun is completed, so that its result is as certain as possible.
            await Task {
                switch (choice, own) {
                case _ where isErased: await erase(endpoint)
                case (0, _): await changeSeries(slot, endpoint)
                case (1, let own?): await takeBack(own.id, own.slot, leaving: false, endpoint)
                case (2...3, let own?): await takeBack(own.id, own.slot, leaving: true, endpoint)
                case (4...5, let own?): await move(own.id, own.slot, to: slot, endpoint)
                case (6, let own?): await makeRelation(.preference, own.id, endpoint)
                case (7, let own?): await makeRelation(.block, own.id, endpoint)
                case (8...9, _): await invite(slot, endpoint)
                case (10...12, _):
                    if let link { await accept(link, endpoint) }
                default: await register(slot, endpoint)
                }
            }.value
        }
    }

    /// - Parameter started: Whether the slot has started. A refusal then means nothing, because a late device finds a
    ///   partner only if one waits.
    func register(_ slot: Int, started: Bool = false, _ endpoint: ClientEndpoint) async {
        // The title tells the partner which device this is.
        let task = ClientEndpoint.task(name, Instant(seconds: slot), name)
        let began = await record.begin()
        guard let response = await ask("POST", "/task", task, endpoint, concerning: [key(slot)]) else { return }
        switch (response.status, response.code) {
        case (200, _), (201, _):
            guard let id = uuid(response, "id") else { return await object(response) }
            await note("registered") {
                $0.registered(key(slot), id, isNew: response.status == 201)
                if response.status == 201 { $0.erasures.made(id, began: began) }
            }
        case (409, "registration_closed") where started: await note("refused") { _ in }
        case (409, "registration_closed"): await note("refused") { $0.found(key(slot), absentBecause: .refused) }
        default: await object(response)
        }
    }

    private func takeBack(_ id: UUID, _ slot: Int, leaving: Bool, _ endpoint: ClientEndpoint) async {
        let target = "/task/\(id.uuidString)?deviceId=\(name)" + (leaving ? "&leave=true" : "")
        guard let response = await ask("DELETE", target, nil, endpoint, concerning: [key(slot)]) else { return }
        switch (response.status, response.code) {
        case (200, _):
            await note(leaving ? "left" : "cancelled") { $0.found(key(slot), absentBecause: .takenBack) }
        case (404, _): await note("refused") { $0.found(key(slot), absentBecause: .notFound) }
        case (409, "has_partner") where !leaving, (409, "registration_closed") where !leaving:
            await note("refused") { _ in }
        default: await object(response)
        }
    }

    private func move(_ id: UUID, _ slot: Int, to new: Int, _ endpoint: ClientEndpoint) async {
        let request: TestJSON = ["deviceId": .string(name), "startsAt": "\(Instant(seconds: new))"]
        let target = "/task/\(id.uuidString)/move"
        let response = await ask("POST", target, request, endpoint, concerning: [key(slot), key(new)])
        await note { $0.invitations.moved(id, isCertain: response != nil) }
        guard let response else { return }
        switch (response.status, response.code) {
        case (200, _):
            await note("moved") { if slot != new { $0.moved(id, from: key(slot), to: key(new)) } }
        case (404, _): await note("refused") { $0.found(key(slot), absentBecause: .notFound) }
        case (409, "slot_taken"): await note("refused") { $0.taken(key(new)) }
        case (409, "registration_closed"): await note("refused") { _ in }
        default: await object(response)
        }
    }

    // MARK: Requests

    /// Sends a request. Returns `nil` without a conclusive answer; the tasks of `keys` are then doubtful.
    func ask(
        _ method: String, _ target: String, _ json: TestJSON?, _ endpoint: ClientEndpoint,
        concerning keys: [RematchLedger.Key]
    ) async -> TestResponse? {
        guard let client = try? await HTTPTestClient.connect(to: endpoint) else { return nil }
        var answer: TestResponse?
        do {
            answer = try await client.request(method, target, json: json, within: Self.timeout)
        } catch ClientFailure.timedOut {
            await note { $0.object("\(name): no answer of \(target) in \(Self.timeout)") }
        } catch {}
        await client.close()
        if let answer, answer.status != 503 { return answer }
        await note("lost") { for key in keys { $0.markUncertain(key) } }
        return nil
    }

    func note(_ outcome: String? = nil, _ change: @Sendable (inout RematchLedger) -> Void) async {
        await record.note(outcome, change)
    }

    func object(_ response: TestResponse) async {
        await note { $0.object("\(name): answered \(response.status) \(response.text)") }
    }

    func uuid(_ response: TestResponse, _ member: String) -> UUID? {
        (try? response.json()).flatMap { uuid($0[member]) }
    }

    func uuid(_ json: TestJSON) -> UUID? { json.string.flatMap { UUID(uuidString: $0) } }

    // MARK: Notifications

    /// Listens until it is cancelled.
    func listen(_ random: SeededRandom) async {
        var random = random
        var number = 0
        while !Task.isCancelled {
            if let endpoint = await world.endpoint(using: &random) {
                number += 1
                await follow(endpoint, number)
                await note { $0.sees(name, nil) }
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Follows one stream until it ends.
    private func follow(_ endpoint: ClientEndpoint, _ number: Int) async {
        guard
            let stream = try? await EventStreamTestClient.connect(
                to: endpoint, "/reminders?deviceId=\(name)", within: Self.timeout)
        else { return }
        do {
            try await look(endpoint)
            while true {
                let event = try await stream.nextEvent(within: .seconds(3_600))
                guard event.event == "reminder" else {
                    try await look(endpoint)
                    continue
                }
                let reminder = try TestJSON(parsing: Array(event.data.utf8))
                guard let id = uuid(reminder["id"]), let task = uuid(reminder["taskId"]) else {
                    await note { $0.object("\(name): no reminder: \(event)") }
                    continue
                }
                let receipt = TaskLedger.Receipt(id: id, task: task, room: uuid(reminder["roomId"]), stream: number)
                await note { $0.received(receipt, by: name) }
            }
        } catch {}
        await stream.close()
    }

    /// Reads all of its days. Throws if the daemon is gone.
    private func look(_ endpoint: ClientEndpoint) async throws {
        var seen: [RematchLedger.Key: RematchLedger.View] = [:]
        let slots = await (0...(record.minute + Self.slotsAhead)).map(clock.slot)
        for date in Set(slots.map { String("\(Instant(seconds: $0))".prefix(10)) }) {
            let shown = try await day(of: date, endpoint)
            for slot in slots where "\(Instant(seconds: slot))".hasPrefix(date) {
                let entry = shown["schedule"][Self.time(slot)]
                guard entry["hasOwnTask"] == true, let id = uuid(entry["id"]), let room = uuid(entry["roomId"]) else {
                    continue
                }
                seen[key(slot)] = .init(task: id, room: room, partner: entry["partnerTask"].string)
            }
        }
        await note { [seen] in $0.sees(name, seen) }
    }

    /// Waits for the device's stream, and then reads all days without a notification.
    func lookAgain(within timeout: Duration) async throws {
        try await eventually("the stream of \(name)", within: timeout) { await record.ledger.views[name] != nil }
        var random = SeededRandom(seed: 0)
        if let endpoint = await world.endpoint(using: &random) { try await look(endpoint) }
    }

    private func day(of date: String, _ endpoint: ClientEndpoint) async throws -> TestJSON {
        while true {
            try Task.checkCancellation()
            let response = try await endpoint.get("/schedule?deviceId=\(name)&date=\(date)&timeZone=UTC")
            if response.status == 200 { return try response.json() }
            guard response.status == 503 else { throw ClientFailure.violation("\(response.status) \(response.text)") }
            try await Task.sleep(for: Self.pause)
        }
    }

    // MARK: Rooms

    /// Enters the room of its task in the slot, and later rooms of that task, until it is cancelled.
    func attend(_ slot: Int, _ random: SeededRandom) async {
        var random = random
        while !Task.isCancelled {
            if let view = await record.ledger.views[name]?[key(slot)],
                let endpoint = await world.endpoint(using: &random),
                let peer = try? await WebSocketTestClient.connect(
                    to: endpoint, "\(ClientEndpoint.room(view.room))&taskId=\(view.task.uuidString)")
            {
                // Waits until the room closes or the daemon ends.
                while (try? await peer.nextMessage(within: .seconds(3_600))) != nil {}
                await peer.close()
            }
            try? await Task.sleep(for: Self.pause * 4)
        }
    }
}
