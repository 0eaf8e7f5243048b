/// The results of pgbench's rounds. They are the floor for the daemon, which runs the same statement.
struct PgBenchFloor {
    let figures: Figures
    private let rounds: [Sample]

    init(_ rounds: [Sample]) {
        figures = Figures(rounds)
        self.rounds = rounds
    }

    /// Compares the daemon's rounds with pgbench's rounds, and prints the result. The two kinds of rounds were measured
    /// alternately.
    ///
    /// - Returns: The daemon's figures, and its rate divided by pgbench's rate, which is the median of the rounds'
    ///   ratios.
    func compare(_ what: String, _ own: [Sample]) -> (figures: Figures, rate: Double) {
        let daemon = Figures(own)
        let rates = zip(own, rounds).map { Double($0.work) / $0.seconds / (Double($1.work) / $1.seconds) }
        Terminal.note("\(what): \(Column.number(daemon.rate))/s, pgbench \(Column.number(figures.rate))/s")
        return (daemon, rates.median)
    }
}
