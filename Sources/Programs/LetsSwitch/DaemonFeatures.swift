import Basics
import Conversations
import Features
import Matches
import Notifications
import Questions
import Reminders
import Schedule
import Schema
import Settings

/// The features of the daemon. A new feature is added here.
struct DaemonFeatures: Sendable {
    let notifications: NotificationsFeature?
    let matches: MatchesFeature
    let schedule: ScheduleFeature
    let reminders: RemindersFeature
    let questions: QuestionsFeature?
    let conversations: ConversationsFeature?

    /// All features that are on. The features with the most frequent routes come first: the app asks for a room
    /// repeatedly when it is refused.
    var all: [any Feature] {
        let parts: [(any Feature)?] = [matches, schedule, reminders, notifications, questions, conversations]
        return parts.compactMap { $0 }
    }

    /// Returns the background work in the order of its start. The services stop in reverse order: the bus sends its
    /// goodbye after the attendance of members who left is written, and deliveries stop last.
    func services(bus: any Service, erasures: any Service) -> [any Service] {
        let first = notifications?.services ?? []
        let middle = matches.services + [erasures] + schedule.services + reminders.services
        return first + [bus] + middle + (questions?.services ?? []) + (conversations?.services ?? [])
    }

    /// The types of all features, including features that are left out.
    static let types = DatabaseSchema.features

    /// Returns the types of the features that are on.
    static func types(without leftOut: Set<OptionalFeature>) -> [any Feature.Type] {
        types.filter { type in !leftOut.contains { $0.type == type } }
    }

    /// Returns the schemas of the features that aren't switched off, and the core's schema.
    static func schemas(without leftOut: Set<OptionalFeature>) -> [FeatureSchema] {
        [.core] + types(without: leftOut).compactMap { $0.schema }
    }

    init(_ configuration: Configuration, _ core: DaemonCore, metrics: ReminderMetrics) {
        let retention = RetentionStore(
            database: core.pools.background,
            parts: Self.schemas(without: configuration.leftOut),
            tasks: configuration.schedule.retention, messages: configuration.conversations.retention)
        let context = core.context
        let outbox: any EventOutbox = core.notifications ?? NoOutbox()
        let providers = configuration.providers
        notifications = core.notifications
        reminders = RemindersFeature(
            configuration.reminders, schedule: configuration.schedule, retention: retention, outbox: outbox,
            metrics: metrics, context)
        schedule = ScheduleFeature(
            configuration.schedule, publicURL: providers.publicURL, offersPush: providers.webPush.contact != nil,
            offersConversations: !configuration.leftOut.contains(.conversations),
            ScheduleFeature.Links(audience: reminders.streams, plan: reminders.scheduler, outbox: outbox), context)
        questions =
            configuration.leftOut.contains(.questions)
            ? nil : QuestionsFeature(configuration.questions, publicURL: providers.publicURL, context)
        conversations =
            configuration.leftOut.contains(.conversations)
            ? nil
            : ConversationsFeature(
                configuration.conversations,
                broker: configuration.amqpURL.map { BridgeSettings($0, authorities: configuration.amqpCAFile) },
                day: schedule.changes, events: outbox, context)
        matches = MatchesFeature(
            configuration.matches, reminders: reminders, attendance: core.attendance,
            defaultHandler: questions?.openSession, context)
    }
}

extension OptionalFeature {
    var type: any Feature.Type {
        switch self {
        case .questions: QuestionsFeature.self
        case .conversations: ConversationsFeature.self
        case .notifications: NotificationsFeature.self
        }
    }
}

/// The outbox of a daemon without notifications. Nothing is written to it.
private struct NoOutbox: EventOutbox {
    func eventWritten() {}
    func deliveriesWritten() {}
}
