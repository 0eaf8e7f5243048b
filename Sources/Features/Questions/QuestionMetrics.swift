package import Domain
package import Observability

/// The counters of question sessions. Any thread may use them.
package struct QuestionMetrics: Sendable {
    /// Quotas that were exceeded through sockets. The HTTP server counts those of requests.
    let quotas: CounterSet<Quota>

    package init(quotas: CounterSet<Quota>) {
        self.quotas = quotas
    }

    enum Asked: String, Sendable, CaseIterable {
        case stored, refused
    }

    let asked = CounterSet<Asked>()
    let votes = Counter()
    /// The number of connections refused because their session was full.
    package let turnedAway = Counter()

    package func write(to text: inout MetricsText) {
        text.counter(
            "letsswitch_questions_total", "Number of asked questions, by result.",
            asked.samples(label: "result"))
        text.counter(
            "letsswitch_question_votes_total", "Number of votes for questions, and of votes taken back.", votes.value)
    }
}
