package import Basics
package import CEmbedded
import Domain
package import Features
package import Observability
import Postgres
package import Server

/// Tasks and their matching, series, invitations, history, the calendar, and the day with its page.
package struct ScheduleFeature: Feature {
    /// The names of the feature's statements, for metrics.
    package static let statementNames =
        ScheduleStore.statementNames + DayStore.statementNames + PartnerStore.statementNames
        + SeriesStore.statementNames + InvitationStore.statementNames + PreferenceStore.statementNames
        + HistoryStore.statementNames + CalendarStore.statementNames
    package static let notificationChannels = [ScheduleChanges.channel]
    package static let schema: FeatureSchema? = ScheduleSchema.schema
    package static var examples: EmbeddedFile? { EmbeddedFile.schedule_examples_txt }

    package let routes: [any RouteCollection]
    package let services: [any Service]
    /// Notifies devices whose day has changed.
    package let changes: ScheduleChanges
    private let zones: TimeZoneDirectory
    private let metrics: ScheduleMetrics
    private let outbox: any EventOutbox

    /// The other parts of the daemon that the feature uses.
    package struct Links: Sendable {
        let audience: any DayAudience
        let plan: any ReminderPlan
        let outbox: any EventOutbox

        /// - Parameters:
        ///   - audience: The readers of days on this daemon.
        ///   - plan: Receives the times of reminders.
        ///   - outbox: Sends the events of tasks.
        package init(audience: any DayAudience, plan: any ReminderPlan, outbox: any EventOutbox) {
            self.audience = audience
            self.plan = plan
            self.outbox = outbox
        }
    }

    /// - Parameters:
    ///   - publicURL: The address of this server for people, without a slash at the end.
    ///   - offersPush: Whether browsers can subscribe to Web Push.
    ///   - offersConversations: Whether partners can open conversations.
    package init(
        _ settings: ScheduleSettings, publicURL: String?, offersPush: Bool, offersConversations: Bool,
        _ links: Links, _ context: FeatureContext
    ) {
        let (requests, storage, log) = (context.pools.requests, context.storage, context.log)
        let schedule = ScheduleStore(database: requests, settings: settings, storage: storage)
        let partners = PartnerStore(database: requests, settings: settings)
        let invitations = InvitationStore(database: requests)
        let series = SeriesStore(
            database: requests, settings: settings, storage: storage, unusedAfter: storage.limits.addressRetention)
        let zones = TimeZoneDirectory(
            store: ScheduleStore(database: context.pools.background, settings: settings), database: context.database)
        let metrics = ScheduleMetrics()
        let outbox = links.outbox
        changes = ScheduleChanges(client: context.pools.background, audience: links.audience, log: log)
        let news = TaskNews(changes: changes, metrics: metrics, log: log, plan: links.plan, outbox: outbox)
        self.zones = zones
        self.metrics = metrics
        self.outbox = outbox
        routes = [
            TaskController(store: schedule, partners: partners, publicURL: publicURL, zones: zones, news: news),
            SeriesController(
                store: series, ending: SeriesEnding(store: series, partners: partners, news: news), zones: zones,
                news: news, log: log),
            InvitationController(
                store: invitations, schedule: schedule, publicURL: publicURL, zones: zones, news: news),
            PreferenceController(store: PreferenceStore(database: requests, storage: storage), log: log),
            HistoryController(store: HistoryStore(database: requests)),
            ScheduleController(store: DayStore(database: requests), zones: zones),
            CalendarController(
                store: CalendarStore(database: requests, storage: storage), publicURL: publicURL, log: log),
            PageController(
                PageFacts(
                    lead: settings.reminderLead, roomDuration: settings.roomDuration, lateJoin: settings.lateJoin,
                    offersPush: offersPush, offersConversations: offersConversations)),
        ]
        services = [
            SeriesWorker(store: series, log: log, made: news.seriesChanged),
            RematchWorker(
                store: RematchStore(database: requests, settings: settings, grace: context.presenceGrace),
                invitations: invitations,
                log: log
            ) { pairs in
                metrics.pairs.add(pairs)
                outbox.eventWritten()
            },
        ]
    }

    package func receive(_ payload: String, from channel: String) {
        Task { await changes.receive(payload) }
        // A task of another daemon: the webhook may have an event to send.
        outbox.eventWritten()
    }

    package func enter() async throws {
        try await zones.read()
    }

    package func writeMetrics(to text: inout MetricsText) {
        metrics.write(to: &text)
    }
}
