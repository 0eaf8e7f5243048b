import Basics
package import Domain
package import FoundationEssentials
import Observability
import Postgres
package import Rooms
import Sockets
import Synchronization

/// Sends due reminders. It claims them in the database, opens the rooms, and passes the reminders to their readers.
/// ``SchedulerState`` decides what to do and when.
///
/// ```
/// NOTIFY ──► wake ──┐
/// end of the sleep ─┴─► actions of the state ──► statements, in parallel ──► events for the state ──► wake
///                               └──► rooms, audience
/// ```
///
/// Several daemons may do this on one database. A claim is one statement, and each task is claimed once. NOTIFY reports
/// the claim to the other daemons, which open the same rooms and notify their own readers.
package actor Scheduler: Service {
    private nonisolated let work: SchedulerWork
    private nonisolated let audience: any ReminderReceiver
    private let rooms: Rooms
    private let metrics: ReminderMetrics
    private let log: Log
    private let claimed: @Sendable () -> Void
    private let timer = WakeableTimer()

    private var state = SchedulerState(at: .now())
    /// ``SchedulerState/nextLook`` as a bit pattern.
    private nonisolated let nextLook = Atomic<UInt64>(Double.infinity.bitPattern)
    /// A copy of ``SchedulerState/isFailing``. With it, a registration waits for the actor only while the scheduler
    /// fails.
    private nonisolated let isFailing = Atomic(false)
    /// The jobs whose last try failed.
    private var failing: Set<SchedulerJob> = []
    /// The rooms that closed early. A claim's notification may arrive after the notification that its room has closed.
    private var dissolvedRooms = DissolvedRooms()
    private var isRunning = false
    private var isStopped = false

    /// - Parameter claimed: Called when this daemon has claimed a batch. NOTIFY reports claims, too, unless its
    ///   connection is dead.
    package init(
        _ work: SchedulerWork, metrics: ReminderMetrics, claimed: @escaping @Sendable () -> Void = {}
    ) {
        self.work = work
        audience = work.audience
        rooms = work.rooms
        log = work.log
        self.metrics = metrics
        self.claimed = claimed
    }

    /// Works until ``stop(within:)``.
    package func run() async {
        state.begin(at: .now())
        isRunning = true
        await withDiscardingTaskGroup { group in
            while !isStopped {
                for action in state.actions(at: .now()) {
                    guard !perform(action) else { continue }
                    group.addTask { await self.finish(await self.work.perform(action)) }
                }
                publish()
                await timer.sleep(for: state.pause(at: .now()))
            }
        }
        // Delivers reminders whose claim was still in flight when the loop ended. Undelivered ones stay in the outbox.
        for action in state.actions(at: .now()) { _ = perform(action) }
    }

    /// Ends ``run()`` after the current work. Claimed reminders are delivered or stay in the outbox.
    package func stop(within limit: Duration) async {
        isStopped = true
        await timer.wake()
    }

    /// The time for which claims have been delayed, if it is longer than normal. `nil` before ``run()``.
    package var lateness: Duration? { isRunning ? state.lateness(at: .now()) : nil }

    // MARK: Events

    /// Records a registered task that is due at `epoch`.
    package func expect(_ epoch: Double) async {
        await handle(.expected(epoch))
    }

    /// Records a task that this daemon registered, because the connection for NOTIFY may be dead. Does nothing unless
    /// the task is due earlier than all known tasks.
    package nonisolated func registered(dueAt epoch: Double) async {
        let next = Double(bitPattern: nextLook.load(ordering: .sequentiallyConsistent))
        if epoch < next { await expect(epoch) }
    }

    /// Throws `503` while reminders are late because this daemon's claims fail. Another daemon may still claim the
    /// task, but this daemon can't know that. A load balancer can pass the request on to another daemon.
    package nonisolated func checkWorking() async throws(RequestError) {
        guard isFailing.load(ordering: .sequentiallyConsistent), await isBlocked else { return }
        throw .remindersUnavailable
    }

    private var isBlocked: Bool { state.isBlocked(at: .now()) }

    /// Records a claim that this or another daemon committed.
    package func claimedElsewhere(_ batch: Int) async {
        await handle(.announced(batch: batch))
    }

    /// Records an open room that was unknown here, because its notification is late or lost.
    package func found(_ room: OpenRoom) async {
        guard !dissolvedRooms.contains(room.id) else { return }
        rooms.open([room.id])
        await handle(.found(room))
    }

    /// Closes a room early, because its match was dissolved.
    package func dissolved(_ room: UUID) {
        dissolvedRooms.insert(room, at: .now())
        rooms.close([room])
    }

    /// Reads everything again, because notifications may be missing or a clock was set.
    package func resynchronise() async {
        await handle(.disturbed)
    }

    private func handle(_ event: SchedulerEvent) async {
        state.handle(event, at: .now())
        publish()
        await timer.wake()
    }

    // MARK: Actions

    /// Publishes the parts of the state that registrations read.
    private func publish() {
        nextLook.store(state.nextLook.bitPattern, ordering: .sequentiallyConsistent)
        isFailing.store(state.isFailing, ordering: .sequentiallyConsistent)
    }

    /// Performs an action that doesn't need the database.
    ///
    /// - Returns: `true` if the action is complete, `false` if a database job must run.
    private func perform(_ action: SchedulerAction) -> Bool {
        switch action {
        case .fire(let claim, let settled):
            // The rooms open first, so that users who follow a reminder find their room open.
            rooms.open(claim.rooms.map(\.id).filter { !dissolvedRooms.contains($0) })
            audience.deliver(claim.reminders.filter { $0.state != .missed }, settled: settled)
            // A user who was reminded without a partner can't be joined any more.
            audience.slotsClosed(claim.closedSlots)
        case .record(let claim, let wasLost):
            if wasLost {
                log.warning("found a claim whose answer was lost", ["count": .int(claim.reminders.count)])
            }
            claimed()
            record(claim.reminders)
        case .close(let over):
            rooms.close(over)
            log.info("rooms closed", ["count": .int(over.count)])
        case .claim, .look, .recover, .follow, .catchUp, .expire, .purge:
            return false
        }
        return true
    }

    /// Handles the end of a job.
    private func finish(_ result: SchedulerResult) async {
        for event in result.events {
            if case .caughtUp(_, let open) = event {
                // Closes again the rooms whose end was notified during the query.
                rooms.close(open.map(\.id).filter { dissolvedRooms.contains($0) })
            }
            state.handle(event, at: .now())
        }
        publish()
        if let error = result.error {
            metrics.failures.add(result.job)
            if failing.insert(result.job).inserted {
                log.warning(
                    "the scheduler is waiting for the database",
                    ["job": .string(result.job.rawValue), "error": .string("\(error)")])
            }
        } else if failing.remove(result.job) != nil {
            log.info("the scheduler can use the database again", ["job": .string(result.job.rawValue)])
        }
        for missed in result.missed {
            metrics.reminders.add(.missed)
            log.info(
                "reminder missed",
                ["taskId": .string(missed.taskId.text), "id": .string(missed.id.text)])
        }
        await timer.wake()
    }

    private func record(_ reminders: [Reminder]) {
        for reminder in reminders {
            // A reminder that is marked as missed later is counted then.
            let isMissed = reminder.isTooLate
            metrics.reminders.add(isMissed ? .missed : .fired)
            metrics.reminderLateness.observe(.seconds(saturating: reminder.lateness))
            if reminder.roomId == nil { metrics.unpaired.add() }
            log.info(
                isMissed ? "reminder missed" : "reminder",
                [
                    "taskId": .string(reminder.taskId.text), "id": .string(reminder.id.text),
                    "device": .device(reminder.device), "startsAt": .string("\(reminder.startsAt)"),
                    "paired": .bool(reminder.roomId != nil), "late_ms": .int(Int(saturating: reminder.lateness * 1000)),
                ])
        }
    }
}
