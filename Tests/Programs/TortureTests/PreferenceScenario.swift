import Domain
import Foundation
import JourneyTestSupport
import TestSupport

/// Four devices beside the others of a rematch run, in slots of their own.
///
/// Two of them wait in the same slot, because one has blocked the other. The chooser prefers the one that came second,
/// and must be matched with it, whatever is killed meanwhile.
struct PreferenceScenario: Sendable {
    /// The run doesn't reach these slots.
    private static let slotsAhead = 1_000
    /// The time for an answer, whatever is killed.
    private static let timeout = Deadline.standard

    private let first: RematchDevice
    private let second: RematchDevice
    private let chooser: RematchDevice
    private let leaver: RematchDevice

    /// How the chooser becomes a device that needs a partner.
    enum Way: CaseIterable, Sendable { case registers, moves, isLeft }

    init(in world: TortureWorld, clock: TortureClock, record: RematchRecord) {
        func device(_ name: String) -> RematchDevice {
            RematchDevice(name: name, world: world, clock: clock, record: record)
        }
        first = device("first")
        second = device("second")
        chooser = device("chooser")
        leaver = device("leaver")
    }

    private func slot(_ number: Int) -> Int { chooser.clock.slot(Self.slotsAhead + number) }

    /// Makes a block and a preference. Each of them needs a match of the two devices first.
    func begin() async throws {
        for (number, kind, own, other) in [
            (0, RelationLedger.Kind.block, first, second), (1, .preference, chooser, second),
        ] {
            _ = try await register(other, slot(number))
            let task = try await register(own, slot(number)).task
            guard let endpoint = await own.world.anyEndpoint else { continue }
            await own.makeRelation(kind, task, endpoint)
            guard await own.record.ledger.relations.own(kind, of: own.name).map(\.other) == [other.name] else {
                throw ClientFailure.violation("\(own.name) has none of the \(kind.rawValue)")
            }
        }
    }

    /// Takes all steps except the last.
    ///
    /// - Parameter number: The number of the choice. Each choice has a slot of its own.
    /// - Returns: The last step.
    func prepare(_ number: Int, _ way: Way) async throws -> @Sendable () async throws -> Void {
        let slot = slot(2 + number)
        var task = UUID()
        switch way {
        case .registers: break
        case .moves: task = try await register(chooser, slot + 30 * 86_400).task
        case .isLeft:
            task = try await register(leaver, slot).task
            _ = try await register(chooser, slot)
        }
        for device in [first, second] {
            guard try await register(device, slot).partner == nil else {
                throw ClientFailure.violation("\(device.name) has a partner at \(slot)")
            }
        }
        return { [task] in
            switch way {
            case .registers: _ = try await register(chooser, slot)
            case .moves:
                let request: TestJSON = ["deviceId": .string(chooser.name), "startsAt": "\(Instant(seconds: slot))"]
                _ = try await answer(chooser, "POST", "/task/\(task.uuidString)/move", request, [200])
            case .isLeft:
                // A repeated request may find that the task is gone.
                _ = try await answer(
                    leaver, "DELETE", "/task/\(task.uuidString)?deviceId=\(leaver.name)&leave=true", nil, [200, 404])
            }
            await chooser.note("chosen") {
                $0.choices.made(.init(slot: slot, chooser: chooser.name, preferred: second.name))
            }
        }
    }

    private func register(_ device: RematchDevice, _ slot: Int) async throws -> (task: UUID, partner: String?) {
        let task = ClientEndpoint.task(device.name, Instant(seconds: slot), device.name)
        let json = try await answer(device, "POST", "/task", task, [200, 201]).json()
        guard let id = device.uuid(json["id"]) else { throw ClientFailure.violation("\(json)") }
        return (id, json["partnerTitle"].string)
    }

    /// Repeats a request until there is an answer.
    private func answer(
        _ device: RematchDevice, _ method: String, _ target: String, _ json: TestJSON?, _ expected: Set<Int>
    ) async throws -> TestResponse {
        let began = ContinuousClock.now
        while ContinuousClock.now - began < Self.timeout {
            if let endpoint = await device.world.anyEndpoint,
                let response = await device.ask(method, target, json, endpoint, concerning: [])
            {
                guard expected.contains(response.status) else {
                    throw ClientFailure.violation("\(device.name): \(target) \(response.status) \(response.text)")
                }
                return response
            }
            try await Task.sleep(for: RematchDevice.pause)
        }
        throw ClientFailure.violation("\(device.name): no answer of \(target) in \(Self.timeout)")
    }
}
