package import ActionCable
package import Basics
package import CEmbedded
package import Domain
package import Features
import FoundationEssentials
package import Observability
import Postgres
import Rooms
package import Schedule
package import Server

/// Reminders: the scheduler that sends them and opens rooms, and the streams that carry them to devices.
package struct RemindersFeature: Feature {
    /// The names of the feature's statements, for metrics.
    package static let statementNames = ReminderStore.statementNames + RematchStore.statementNames
    package static let notificationChannels = [
        ReminderStore.dueChannel, ReminderStore.claimsChannel, PartnerStore.dissolvedChannel, RematchStore.channel,
    ]
    package static let schema: FeatureSchema? = ReminderSchema.schema
    package static var examples: EmbeddedFile? { EmbeddedFile.reminders_examples_txt }
    package static let messages = EventStreamDescriptions.schemas

    package let scheduler: Scheduler
    package let streams: EventStreams
    /// The source of reminders for all transports.
    package let source: ReminderSource
    /// The store on the pool of requests.
    package let store: ReminderStore
    /// The store on the pool of background work.
    package let background: ReminderStore
    package let metrics: ReminderMetrics
    private let streamMetrics = EventStreamMetrics()
    private let acknowledgements: Acknowledgements
    private let missed: MissedRematches
    private let rooms: Rooms
    private let outbox: any EventOutbox

    /// - Parameters:
    ///   - retention: Deletes old rows of all features.
    ///   - outbox: Sends the deliveries that a claim has written.
    package init(
        _ settings: ReminderSettings, schedule: ScheduleSettings, retention: RetentionStore, outbox: any EventOutbox,
        metrics: ReminderMetrics, _ context: FeatureContext
    ) {
        self.metrics = metrics
        let (pools, rooms, log) = (context.pools, context.rooms, context.log)
        let store = ReminderStore(database: pools.requests)
        background = ReminderStore(database: pools.background)
        self.store = store
        self.rooms = rooms
        self.outbox = outbox
        let acknowledgements = Acknowledgements(
            ReminderAcknowledger(store: background, metrics: metrics, log: log), limits: ReminderAcknowledger.limits)
        self.acknowledgements = acknowledgements
        let streams = EventStreams(
            loops: context.loops, rooms: rooms, keys: context.keys, limitPerDevice: settings.maxStreamsPerDevice,
            metrics: streamMetrics
        ) { acknowledgements.submit($0) }
        self.streams = streams
        let scheduler = Scheduler(
            SchedulerWork(
                claims: ReminderStore(database: pools.claims), store: background, retention: retention, rooms: rooms,
                audience: streams, log: log),
            metrics: metrics, claimed: outbox.deliveriesWritten)
        self.scheduler = scheduler
        source = ReminderSource(
            streams: streams, ready: { try await context.database.checkPrepared() }, backlog: store.backlog)
        missed = MissedRematches(
            store: RematchStore(database: pools.requests, settings: schedule, grace: context.presenceGrace), log: log
        ) { Self.publish($0, streams, rooms, scheduler) }
    }

    package var routes: [any RouteCollection] { [EventStreamController(source)] }
    package var channels: [any CableChannel] { [RemindersChannel(source: source)] }

    package func receive(_ payload: String, from channel: String) {
        switch channel {
        case ReminderStore.dueChannel:
            if let epoch = Double(payload) { Task { await scheduler.expect(epoch) } }
        case ReminderStore.claimsChannel:
            if let batch = Int(payload) { Task { await scheduler.claimedElsewhere(batch) } }
            outbox.deliveriesWritten()
        case PartnerStore.dissolvedChannel:
            if let room = UUID(uuidString: payload) { Task { await scheduler.dissolved(room) } }
        case RematchStore.channel:
            if let rematch = Rematch(notification: payload) { Self.publish(rematch, streams, rooms, scheduler) }
        default: break
        }
    }

    private static func publish(_ rematch: Rematch, _ streams: EventStreams, _ rooms: Rooms, _ scheduler: Scheduler) {
        streams.publish(rematch)
        guard let room = rematch.from else { return }
        // Sent before the room closes, through the same queue.
        rooms.announce(rematch, in: room)
        Task { await scheduler.dissolved(room) }
    }

    package var services: [any Service] {
        [AcknowledgementService(streams: streams, acknowledgements: acknowledgements), scheduler]
    }

    package func resynchronise() {
        Task {
            // Runs before rooms that no longer exist are closed.
            await missed.listening()
            await scheduler.resynchronise()
        }
    }

    package func notificationsLost() {
        Task { await missed.lost() }
    }

    package func disconnect(_ device: DeviceID) {
        streams.end(device)
    }

    package func writeMetrics(to text: inout MetricsText) {
        metrics.write(to: &text)
        streamMetrics.write(to: &text)
    }

    package var turnedAway: [MetricSample<Int>] {
        [MetricSample(["cause": "max-streams-per-device"], streamMetrics.turnedAway.value)]
    }
}

extension Scheduler: ReminderPlan {}
extension EventStreams: DayAudience {}
