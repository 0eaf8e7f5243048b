import ActionCable
import Daemons
import Domain
import LiveConversations
import LiveQuestions
import LiveSchedule
import Observability
import Scheduling
import Settings

/// All counters. Each part counts its own.
struct ProductMetrics: Sendable {
    let scheduling = SchedulingMetrics()
    let rooms = RoomMetrics()
    let streams = EventStreamMetrics()
    let cable = CableMetrics()
    let tls = TLSMetrics()
    let bus = BusMetrics()
    let questions: QuestionMetrics
    let conversations: ConversationMetrics
    let database: DatabaseMetrics
    /// Requests that a full quota refused, through any protocol.
    let quotas = CounterSet<Quota>()

    /// - Parameter statements: See ``DatabaseMetrics/init(statements:)``.
    init(statements: [String]) {
        database = DatabaseMetrics(statements: statements)
        questions = QuestionMetrics(quotas: quotas)
        conversations = ConversationMetrics(quotas: quotas)
    }

    func write(to text: inout MetricsText) {
        scheduling.writeTasks(to: &text)
        text.counter(
            "letsswitch_turned_away_total",
            "Number of connections, streams and requests refused because a limit was reached, by limit.",
            [
                MetricSample(["cause": "room-size"], rooms.turnedAway.value),
                MetricSample(["cause": "max-streams-per-device"], streams.turnedAway.value),
                MetricSample(["cause": "session-size"], questions.turnedAway.value),
            ] + quotas.samples(label: "cause"))
        scheduling.writeReminders(to: &text)
        streams.write(to: &text)
        cable.write(to: &text)
        text.counter(
            "letsswitch_cable_ales_left_out_total",
            "Number of ales not sent to /cable clients that hadn't read earlier ales.",
            rooms.alesLeftOut.value)
        bus.write(to: &text)
        questions.write(to: &text)
        conversations.write(to: &text)
        scheduling.writeFailures(to: &text)
        database.write(to: &text)
        text.gauge(
            "letsswitch_build_info", "Always 1. The labels have the versions of the daemon and of Swift.",
            [MetricSample(["version": ProductVersion.number, "swift": ProductVersion.swift], 1)])
    }
}
