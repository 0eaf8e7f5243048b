import Basics
import Domain
package import FoundationEssentials
import Observability
import Postgres
package import Rooms
import Sockets
import Synchronization

/// Fires what is due: claims it in the database, opens the rooms, hands the reminders to who listens. What to do, and when, is
/// ``SchedulerState``'s to say.
///
/// ```
/// NOTIFY ──► wake ─┐
/// sleep is over ───┴─► state's actions ──► statements, each beside the others ──► events to the state ──► wake
///                             └──► rooms, audience
/// ```
///
/// Several daemons may do this on one database: a claim is one statement there, and each task is claimed once. The others hear
/// of it by NOTIFY, and open the same rooms and reach their own audience.
package actor Scheduler: Service {
    private nonisolated let work: SchedulerWork
    private nonisolated let audience: any ReminderReceiver
    private let rooms: Rooms
    private let metrics: SchedulingMetrics
    private let log: Log
    private let claimed: @Sendable () -> Void
    private let timer = WakeableTimer()

    private var state = SchedulerState(at: .now())
    /// Bits of ``SchedulerState/nextLook``.
    private nonisolated let nextLook = Atomic<UInt64>(Double.infinity.bitPattern)
    /// Jobs whose last try failed.
    private var failing: Set<SchedulerJob> = []
    /// Word of a claim may come after word of its room's end.
    private var dissolvedRooms = DissolvedRooms()
    private var isRunning = false
    private var isStopped = false

    /// - Parameter claimed: Called when this daemon has claimed something; NOTIFY says so too, unless its connection is dead.
    package init(
        _ work: SchedulerWork, metrics: SchedulingMetrics, claimed: @escaping @Sendable () -> Void = {}
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
                publishNextLook()
                await timer.sleep(for: state.pause(at: .now()))
            }
        }
        // What was claimed at the end is delivered, or stays in the outbox.
        for action in state.actions(at: .now()) { _ = perform(action) }
    }

    /// Ends ``run()`` after what it is doing; claimed reminders are delivered or stay in the outbox.
    package func stop(within limit: Duration) async {
        isStopped = true
        await timer.wake()
    }

    /// For how long claiming has been held up, when that is longer than it should be; nil before ``run()``.
    package var lateness: Duration? { isRunning ? state.lateness(at: .now()) : nil }

    // MARK: What wakes it

    /// A task was registered that is due at `epoch`.
    package func expect(_ epoch: Double) async {
        await handle(.expected(epoch))
    }

    /// A task was registered through this daemon. NOTIFY says so too; but its connection may be gone, or dead unnoticed. Costs
    /// nothing unless the task is earlier than all that is known.
    package nonisolated func registered(dueAt epoch: Double) async {
        let next = Double(bitPattern: nextLook.load(ordering: .sequentiallyConsistent))
        if epoch < next { await expect(epoch) }
    }

    /// A claim was committed, by this daemon or another.
    package func fired(_ batch: Int) async {
        await handle(.announced(batch: batch))
    }

    /// A peer found a room open that was not known to be: word of it is under way, or was lost.
    package func found(_ room: OpenRoom) async {
        guard !dissolvedRooms.contains(room.id) else { return }
        rooms.open([room.id])
        await handle(.found(room))
    }

    /// A room is over before its time: whoever was to meet there doesn't.
    package func dissolved(_ room: UUID) {
        dissolvedRooms.insert(room, at: .now())
        rooms.close([room])
    }

    /// Notifications may have been missed, or a clock was set: look at everything anew.
    package func resynchronise() async {
        await handle(.disturbed)
    }

    private func handle(_ event: SchedulerEvent) async {
        state.handle(event, at: .now())
        publishNextLook()
        await timer.wake()
    }

    // MARK: What it does

    private func publishNextLook() {
        nextLook.store(state.nextLook.bitPattern, ordering: .sequentiallyConsistent)
    }

    /// - Returns: Whether that is all; else the action is for the database.
    private func perform(_ action: SchedulerAction) -> Bool {
        switch action {
        case .fire(let claim, let settled):
            // The rooms first, so that whoever comes because of a reminder finds its room open.
            rooms.open(claim.rooms.map(\.id).filter { !dissolvedRooms.contains($0) })
            audience.deliver(claim.reminders.filter { $0.state != .missed }, settled: settled)
            // Nobody can join whoever was reminded alone.
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

    /// A job has ended.
    private func finish(_ result: SchedulerResult) async {
        for event in result.events {
            if case .caughtUp(_, let open) = event {
                // Word of their end came while the database was asked.
                rooms.close(open.map(\.id).filter { dissolvedRooms.contains($0) })
            }
            state.handle(event, at: .now())
        }
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
            // One that is given up later is counted then.
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
