import Domain
import Foundation
import TestSupport

/// Erasures and reported starts.
extension RematchDevice {
    /// Erases the device's data. The device then continues like a new one.
    func erase(_ endpoint: ClientEndpoint) async {
        let slots = await (0...(record.minute + Self.slotsAhead)).map(clock.slot)
        let relations = await record.change { $0.erases(name) }
        guard let response = await ask("DELETE", "/device?deviceId=\(name)", nil, endpoint, concerning: slots.map(key))
        else {
            return await note { ledger in
                for kind in RelationLedger.Kind.allCases { ledger.relations.markUncertain(kind, of: name) }
            }
        }
        if response.status == 200 {
            await note("erased") { $0.erased(name, relations: relations) }
        } else {
            await object(response)
        }
    }

    /// Reports the start of its task in the slot again and again, until it is cancelled.
    func start(_ slot: Int, _ random: SeededRandom) async {
        var random = random
        while !Task.isCancelled {
            if let endpoint = await world.endpoint(using: &random) {
                // A request that has begun is completed.
                await Task { await reportStart(slot, endpoint) }.value
            }
            try? await Task.sleep(for: Self.pause * Int.random(in: 1...40, using: &random))
        }
    }

    private func reportStart(_ slot: Int, _ endpoint: ClientEndpoint) async {
        guard case .present(let id) = await record.ledger.state(key(slot)) else { return }
        await note { $0.starts.willReport(id) }
        let target = "/task/\(id.uuidString)/started"
        guard let response = await ask("POST", target, ["deviceId": .string(name)], endpoint, concerning: []) else {
            return
        }
        guard response.status == 200 else { return await object(response) }
        await note("started") { $0.starts.acknowledged(id) }
        await readHistory(endpoint)
    }

    /// Reads the history, and notes the starts that it shows.
    func readHistory(_ endpoint: ClientEndpoint) async {
        let before = await record.ledger.starts
        guard let response = await ask("GET", "/history?deviceId=\(name)", nil, endpoint, concerning: []) else {
            return
        }
        guard response.status == 200, let entries = try? response.json()["tasks"].array else {
            return await object(response)
        }
        for entry in entries {
            guard let id = uuid(entry["id"]) else { return await object(response) }
            let startedAt = entry["startedAt"].string.flatMap { Instant($0) }?.seconds
            await note { $0.starts.shown(id, startedAt, wasAcknowledged: before.isAcknowledged(id)) }
        }
    }
}
