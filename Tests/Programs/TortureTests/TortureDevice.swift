import Domain
import Foundation
import JourneyTestSupport
import TestSupport

/// A device of a run: registers and cancels at random, one request after the other, and listens for its reminders. It
/// connects to any running daemon, and reconnects when a connection is lost, like the app does.
struct TortureDevice: Sendable {
    /// A longer wait for an answer is an error, because the daemon's own limits are lower.
    private static let timeout = Duration.seconds(30)
    private static let pause = Duration.milliseconds(5)
    /// The number of slots after the one being reminded that devices register for.
    static let slotsAhead = 7

    let name: String
    let world: TortureWorld
    let clock: TortureClock
    let record: TortureRecord

    // MARK: Tasks

    /// Sends requests until it is cancelled. Then completes the last request. `minute` returns the number of the slot
    /// that is being reminded.
    func promise(_ random: SeededRandom, minute: @escaping @Sendable () async -> Int) async {
        var random = random
        // A task that still waits for a partner. Mostly only such a task can be cancelled.
        var lonely: TaskLedger.Key?
        while !Task.isCancelled {
            guard let endpoint = await world.endpoint(using: &random) else {
                try? await Task.sleep(for: Self.pause)
                continue
            }
            // The slot that is being reminded, or one of the next.
            let slot = clock.slot(await minute() + Int.random(in: 0...Self.slotsAhead, using: &random))
            let (key, wantsToCancel) =
                switch Int.random(in: 0..<4, using: &random) {
                case 0: (TaskLedger.Key(device: name, slot: slot), true)
                case 1: (lonely ?? TaskLedger.Key(device: name, slot: slot), lonely != nil)
                default: (TaskLedger.Key(device: name, slot: slot), false)
                }
            // A request that has begun is completed, so that its result is as certain as possible.
            lonely = await Task {
                if wantsToCancel {
                    await cancel(key, endpoint)
                    return nil
                }
                return await register(key, endpoint) ? key : nil
            }.value
        }
    }

    /// - Returns: Whether there is now a task that waits for a partner.
    private func register(_ key: TaskLedger.Key, _ endpoint: ClientEndpoint) async -> Bool {
        switch await exchange("/task", key, endpoint) {
        case .notSent: break
        case .lost: await lost(.registration, key)
        case .answered(let response) where response.status == 503: await lost(.registration, key)
        case .answered(let response) where [200, 201].contains(response.status):
            guard let task = try? response.decode(RegisteredTask.self) else {
                await object(response, key)
                break
            }
            let promise = TaskHistory.KnownTask(
                id: task.id, room: task.socketId, partner: task.partnerTitle, isFixed: task.isPaired)
            await record.note(key) { $0.registered(promise, isNew: response.status == 201) }
            await record.count {
                $0.registered += 1
                if task.isPaired { $0.paired += 1 }
            }
            return !task.isPaired
        case .answered(let response) where response.status == 409 && response.code == "registration_closed":
            await record.note(key) { $0.registrationRefused() }
            await record.count { $0.refused += 1 }
        case .answered(let response): await object(response, key)
        }
        return false
    }

    private func cancel(_ key: TaskLedger.Key, _ endpoint: ClientEndpoint) async {
        switch await exchange("/task/delete", key, endpoint) {
        case .notSent: break
        case .lost: await lost(.cancellation, key)
        case .answered(let response) where response.status == 503: await lost(.cancellation, key)
        case .answered(let response) where response.status == 200:
            guard let task = try? response.decode(RegisteredTask.self) else { return await object(response, key) }
            await record.note(key) { $0.cancelled(task.id) }
            await record.count { $0.cancelled += 1 }
        case .answered(let response) where response.status == 404:
            await record.note(key) { $0.notFound() }
            await record.count { $0.refused += 1 }
        case .answered(let response) where response.status == 409:
            await record.note(key) { $0.kept() }
            await record.count { $0.refused += 1 }
        case .answered(let response): await object(response, key)
        }
    }

    private enum Outcome {
        case notSent, lost
        case answered(TestResponse)
    }

    private func exchange(
        _ target: String, _ key: TaskLedger.Key, _ endpoint: ClientEndpoint
    ) async -> Outcome {
        guard let client = try? await HTTPTestClient.connect(to: endpoint) else { return .notSent }
        await record.note(key) { $0.begin() }
        // The title tells the partner which device this is.
        let json = ClientEndpoint.task(name, Instant(seconds: key.slot), name)
        var outcome = Outcome.lost
        do {
            outcome = .answered(try await client.request("POST", target, json: json, within: Self.timeout))
        } catch ClientFailure.timedOut {
            await record.object("\(name): no answer of \(target) in \(Self.timeout)")
        } catch {}
        await client.close()
        return outcome
    }

    private func lost(_ request: TaskHistory.UncertainRequest, _ key: TaskLedger.Key) async {
        await record.note(key) { $0.unanswered(request) }
        await record.count { $0.unanswered += 1 }
    }

    private func object(_ response: TestResponse, _ key: TaskLedger.Key) async {
        await record.object("\(key.device) at \(key.slot): answered \(response.status) \(response.text)")
    }

    // MARK: Reminders

    /// Listens until it is cancelled.
    func listen(_ random: SeededRandom) async {
        var random = random
        var last: UUID?
        var number = 0
        while !Task.isCancelled {
            guard let endpoint = await world.endpoint(using: &random) else {
                try? await Task.sleep(for: Self.pause)
                continue
            }
            // Sometimes the stream starts without the last reminder's id.
            let seen = Int.random(in: 0..<4, using: &random) == 0 ? nil : last
            number += 1
            last = await follow(endpoint, number, after: seen) ?? last
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Follows one stream until it ends. Returns the id of the last reminder that it received.
    private func follow(_ endpoint: ClientEndpoint, _ number: Int, after seen: UUID?) async -> UUID? {
        let stream: EventStreamTestClient
        do {
            stream = try await EventStreamTestClient.connect(
                to: endpoint, "/reminders?deviceId=\(name)", lastEventID: seen?.uuidString, within: Self.timeout)
        } catch ClientFailure.timedOut {
            await record.object("\(name): no stream in \(Self.timeout)")
            return nil
        } catch {
            return nil
        }
        await record.count { $0.streams += 1 }
        var last: UUID?
        do {
            while true {
                let reminder = try await stream.nextReminder(within: .seconds(3600))
                last = reminder.id
                let receipt = TaskLedger.Receipt(
                    id: reminder.id, task: reminder.taskId, room: reminder.roomId, stream: number)
                await record.received(receipt, by: name)
            }
        } catch ClientFailure.violation(let text) {
            await record.object("\(name): \(text)")
        } catch {}
        await stream.close()
        return last
    }
}
