import Access
package import ActionCable
package import CEmbedded
package import Domain
package import Features
import FoundationEssentials
package import Observability
import Postgres
package import Server

/// Question sessions for an audience.
package struct QuestionsFeature: Feature {
    /// The names of the feature's statements, for metrics.
    package static let statementNames = QuestionStore.statementNames
    package static let notificationChannels = [QuestionStore.channel]
    package static let schema: FeatureSchema? = QuestionSchema.schema
    package static var examples: EmbeddedFile? { EmbeddedFile.questions_examples_txt }
    package static let messages = QuestionDescriptions.schemas

    package let routes: [any RouteCollection]
    package let channels: [any CableChannel]
    /// The handler of WebSockets without a room, if there is a session that everyone can use.
    package let openSession: (any DefaultSocketHandler)?
    private let questions: Questions

    /// - Parameter publicURL: The address of this server for people, without a slash at its end.
    package init(_ settings: QuestionSettings, publicURL: String?, _ context: FeatureContext) {
        let store = QuestionStore(database: context.pools.requests, settings: settings, storage: context.storage)
        questions = Questions(
            store: store, rooms: context.rooms, keys: context.keys, loops: context.loops,
            executor: context.pools.executor, sessionSize: settings.sessionSize,
            questionRates: QuestionRates(questionsPerSession: settings.questionsPerSession),
            messageRates: context.messageRates, metrics: QuestionMetrics(quotas: context.quotas), log: context.log,
            now: context.identities.now)
        let sessions = SessionAccess(
            questions: questions, hasOpenSession: settings.hasOpenSession, identities: context.identities)
        routes = [
            QuestionSocketController(sessions),
            QuestionsController(
                sessions, pages: QuestionPages(sessions, publicURL: publicURL), log: context.log),
        ]
        channels = [QuestionsChannel(questions: questions, hasOpenSession: settings.hasOpenSession)]
        openSession = settings.hasOpenSession ? OpenSessionSockets(sessions) : nil
    }

    package func receive(_ payload: String, from channel: String) {
        Task { await questions.feeds.receive(payload) }
    }

    package func resynchronise() {
        Task { await questions.feeds.resynchronise() }
    }

    package func disconnect(_ device: DeviceID) {
        questions.end(device)
    }

    package func writeMetrics(to text: inout MetricsText) {
        text.gauge(
            "letsswitch_question_sockets", "Number of connections in question sessions.",
            Double(questions.audience.total))
        questions.metrics.write(to: &text)
    }

    package var turnedAway: [MetricSample<Int>] {
        [MetricSample(["cause": "session-size"], questions.metrics.turnedAway.value)]
    }
}
