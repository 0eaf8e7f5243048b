/// What pgbench's rounds came to: the floor of what the daemon does by the same statement.
struct PgBenchFloor {
    let figures: Figures
    private let rounds: [Sample]

    init(_ rounds: [Sample]) {
        figures = Figures(rounds)
        self.rounds = rounds
    }

    /// Compares the daemon's rounds, which were measured in turn with these, and tells the person at the terminal.
    ///
    /// - Returns: What they came to; and their rate over pgbench's, the median of the rounds' ratios.
    func compare(_ what: String, _ own: [Sample]) -> (figures: Figures, rate: Double) {
        let daemon = Figures(own)
        let rates = zip(own, rounds).map { Double($0.work) / $0.seconds / (Double($1.work) / $1.seconds) }
        Terminal.note("\(what): \(Column.number(daemon.rate))/s, pgbench \(Column.number(figures.rate))/s")
        return (daemon, rates.median)
    }
}
