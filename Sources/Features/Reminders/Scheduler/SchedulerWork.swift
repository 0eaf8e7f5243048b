import Domain
package import Features
package import Observability
import Postgres
package import Rooms

/// The scheduler's statements. The statements run independently of each other and outside of the actor, so that they
/// don't block it.
package struct SchedulerWork: Sendable {
    /// The maximum number of tasks in one claim. With small claims, the first reminders are sent while later ones are
    /// being claimed.
    static let claimLimit = 500
    static let purgeLimit = 1000
    /// The maximum number of devices in one query for missed reminders.
    static let devicesPerStatement = 100

    private let claims: ReminderStore
    private let store: ReminderStore
    private let retention: RetentionStore
    let rooms: Rooms
    let audience: any ReminderReceiver
    let log: Log

    /// - Parameters:
    ///   - claims: Uses connections that no other work uses.
    ///   - retention: Deletes old rows of all features.
    package init(
        claims: ReminderStore, store: ReminderStore, retention: RetentionStore, rooms: Rooms,
        audience: any ReminderReceiver, log: Log
    ) {
        self.claims = claims
        self.store = store
        self.retention = retention
        self.rooms = rooms
        self.audience = audience
        self.log = log
    }

    /// Performs the database part of an action.
    func perform(_ action: SchedulerAction) async -> SchedulerResult {
        switch action {
        case .claim: await result(.claim) { [.claimed(try await claim())] }
        case .look: await result(.look) { [.looked(try await claims.nextDue())] }
        case .recover(let batch, let known): await result(.recover) { [.recovered(try await recover(batch, known))] }
        case .follow(let batch, let last):
            await result(.follow) { [.followed(try await store.claims(after: batch, upTo: last), upTo: last)] }
        case .catchUp(let settled): await result(.catchUp) { try await catchUp(settled: settled) }
        case .expire: await expire()
        case .purge:
            await result(.purge) { [.purged(try await retention.deleteOld(limit: Self.purgeLimit))] }
        case .fire, .record, .close: SchedulerResult(job: .look)
        }
    }

    private func result(
        _ job: SchedulerJob, _ body: () async throws -> [SchedulerEvent]
    ) async -> SchedulerResult {
        do {
            return SchedulerResult(job: job, events: try await body())
        } catch {
            return SchedulerResult(failed: job, error)
        }
    }

    private func claim() async throws -> ClaimedBatch? {
        do {
            return try await claims.claimDue(limit: Self.claimLimit)
        } catch let error as PostgresError {
            guard case .server = error.kind else { throw error }
            log.error(
                "failed to claim due tasks together: each task is claimed separately", ["error": .string("\(error)")])
            return try await claims.claimEach(limit: Self.claimLimit)
        }
    }

    private func recover(_ batch: Int, _ known: Set<Int>) async throws -> [ClaimedBatch] {
        var claims: [ClaimedBatch] = []
        for own in try await store.ownBatches(after: batch) where !known.contains(own) {
            claims += try await store.claims(after: own - 1, upTo: own)
        }
        return claims
    }

    private func expire() async -> SchedulerResult {
        do {
            return SchedulerResult(job: .expire, events: [.expired], missed: try await store.expire())
        } catch {
            return SchedulerResult(failed: .expire, error)
        }
    }

    /// Reads what this daemon may have missed. Devices that connect during this read their reminders themselves, later
    /// than this query.
    private func catchUp(settled: Int) async throws -> [SchedulerEvent] {
        let newest = try await store.newestBatch()
        var events: [SchedulerEvent] = []
        if newest < settled {
            log.warning(
                "the database was restored: its claims are counted from an earlier number", ["batch": .int(newest)])
            // The positions that streams have seen are invalid now, so their readers must reconnect.
            audience.restart(nil)
            events.append(.restored(newest: newest))
        }
        let open = try await store.openRooms()
        rooms.open(open.map(\.id))
        var devices = Array(await audience.devices())
        while !devices.isEmpty {
            let some = Array(devices.suffix(Self.devicesPerStatement))
            devices.removeLast(some.count)
            try await catchUp(some, newest: newest)
        }
        return events + [.caughtUp(newest: newest, open)]
    }
}

extension SchedulerWork {
    /// Sends these devices' streams the reminders that they may have missed.
    private func catchUp(_ devices: [DeviceID], newest: Int) async throws {
        do {
            let reminders = Dictionary(grouping: try await store.reminders(of: devices), by: \.device)
            let few = devices.filter { reminders[$0]?.count ?? 0 < ReminderStore.pageLimit }
            // A missed reminder is never sent, even if the clock is set back and its task is in the future again.
            audience.catchUp(
                few, with: few.flatMap { reminders[$0] ?? [] }.filter { $0.state != .missed }, newest: newest)
            for device in devices where reminders[device]?.count ?? 0 >= ReminderStore.pageLimit {
                let backlog = try await store.backlog(of: device, after: nil)
                if backlog.isComplete {
                    audience.catchUp([device], with: backlog.unseen, newest: newest)
                } else {
                    audience.restart([device])
                }
            }
        } catch let error as PostgresError where !error.isUnavailable {
            // A device whose reminders can't be read must not block the others.
            guard devices.count > 1 else {
                return log.error(
                    "failed to read a device's reminders",
                    ["device": devices.first.map(LogValue.device) ?? "", "error": .string("\(error)")])
            }
            for half in [devices.prefix(devices.count / 2), devices.suffix(devices.count - devices.count / 2)] {
                try await catchUp(Array(half), newest: newest)
            }
        }
    }
}

/// The result of a job.
struct SchedulerResult: Sendable {
    let job: SchedulerJob
    var events: [SchedulerEvent] = []
    /// The reminders that were marked as missed.
    var missed: [ExpiredReminder] = []
    var error: (any Error)?

    init(job: SchedulerJob, events: [SchedulerEvent] = [], missed: [ExpiredReminder] = []) {
        self.job = job
        self.events = events
        self.missed = missed
    }

    init(failed job: SchedulerJob, _ error: any Error) {
        self.job = job
        self.error = error
        var isOutcomeUnknown = true
        if let error = error as? PostgresError {
            switch error.kind {
            case .unavailable(let isUnknown): isOutcomeUnknown = isUnknown
            // The statement was executed, but its answer can't be read.
            case .decoding: isOutcomeUnknown = true
            case .refused, .conflict, .server, .invalidParameter, .shutDown: isOutcomeUnknown = false
            }
        }
        events = [.failed(job, isOutcomeUnknown: isOutcomeUnknown)]
    }
}
