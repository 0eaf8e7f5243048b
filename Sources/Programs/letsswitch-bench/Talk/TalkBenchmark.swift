/// Conversations: `POST /messages` and the socket's `send`, compared with the same statement from pgbench. Rounds of
/// both alternate on the same cluster. The benchmark also measures how soon fifty participants receive a message on
/// their sockets. The cluster's commits are durable.
struct TalkBenchmark {
    private static let connections = PgBench.clients
    /// The number of conversations, each with one message in flight. There are enough of them that messages don't wait
    /// for each other.
    private static let pairs = 512
    /// The time limit of the statements that create the people and their conversations.
    private static let timeout = Duration.seconds(60)
    private static let full = (groups: [1, 10], people: 50, rate: 500.0, seconds: 10.0)
    private static let quick = (groups: [1, 2], people: 5, rate: 50.0, seconds: 1.0)

    let laboratory: Laboratory
    private var options: Options { laboratory.options }

    func run() throws -> Findings {
        let daemon = try laboratory.daemon(flags: ["--device-message-rate", "0"], on: laboratory.processors)
        var findings = Findings(
            "Messages from \(Self.connections) clients beside pgbench's prepared statement, and on their way to participants"
        )
        try laboratory.execute(TalkSchema.make(Self.pairs, of: 2, from: 1), timeout: Self.timeout)
        try compare(daemon.server, &findings)
        let size = options.isQuick ? Self.quick : Self.full
        var first = Self.pairs + 1
        for groups in size.groups {
            try laboratory.execute(TalkSchema.make(groups, of: size.people, from: first), timeout: Self.timeout)
            try deliver(daemon.server, groups, size, from: first, &findings)
            first += groups
        }
        return findings
    }

    // MARK: Comparison with pgbench

    private func compare(_ server: Server, _ findings: inout Findings) throws {
        let pgbench = PgBench(laboratory)
        let seconds = max(1, options.seconds)
        var samples: (floor: [Sample], requests: [Sample], sockets: [Sample]) = ([], [], [])
        for _ in 0..<options.rounds {
            samples.floor.append(try pgbench.run(TalkSchema.send(inPairs: Self.pairs), seconds: seconds))
            var requests = try RequestLoad(server, connections: Self.connections) { _ in
                let pair = Int.random(in: 1...Self.pairs)
                return LoadRequest.post(
                    "/messages",
                    json: """
                        {"deviceId":"\(TalkSchema.device(2 * pair - 1))","content":"Hello",\
                        "conversation":"\(TalkSchema.conversation(pair))"}
                        """)
            }
            samples.requests.append(try requests.run(warmUp: seconds / 5, seconds: seconds))
            var talk = try Talk(
                server,
                (1...Self.connections).map { pair in
                    Talk.Participant(
                        device: TalkSchema.device(2 * pair - 1), conversation: TalkSchema.conversation(pair))
                })
            samples.sockets.append(try talk.run(warmUp: seconds / 5, seconds: seconds))
        }
        let floor = PgBenchFloor(samples.floor)
        findings.add("pgbench", floor.figures.rate, "/s")
        findings.add("pgbench: p50", floor.figures.p50 / 1e3, "ms")
        findings.add("pgbench: p99", floor.figures.p99 / 1e3, "ms")
        for (what, own) in [("POST /messages", samples.requests), ("send by a socket", samples.sockets)] {
            let (figures, rate) = floor.compare(what, own)
            findings.add(what, figures.rate, "/s")
            findings.add("\(what): rate, of pgbench's", rate * 100, "%", atLeast: 80)
            findings.add("\(what): p50", figures.p50 / 1e3, "ms")
            findings.add("\(what): p99", figures.p99 / 1e3, "ms")
            findings.add("\(what): CPU of letsswitchd", figures.cost, "µs")
        }
    }

    // MARK: Delivery to participants

    private func deliver(
        _ server: Server, _ groups: Int, _ size: (groups: [Int], people: Int, rate: Double, seconds: Double),
        from first: Int, _ findings: inout Findings
    ) throws {
        // Orders the senders so that consecutive senders are in different groups.
        let participants = (1...size.people).flatMap { place in
            (first..<first + groups).map { group in
                Talk.Participant(
                    device: TalkSchema.device((group - 1) * size.people + place),
                    conversation: TalkSchema.conversation(group))
            }
        }
        var talk = try Talk(server, participants)
        try talk.run(rate: size.rate, seconds: size.seconds, audience: size.people)
        let (deliveryTimes, stored) = (talk.deliveryTimes, talk.stored)
        let what = "\(groups) × \(size.people) participants, \(Column.number(size.rate)) messages a second"
        findings.add("\(what): received", deliveryTimes.count, exactly: Int(size.rate * size.seconds) * size.people)
        findings.add("\(what): stored, p50", stored.microseconds(quantile: 0.5) / 1e3, "ms")
        findings.add("\(what): received, p50", deliveryTimes.microseconds(quantile: 0.5) / 1e3, "ms")
        findings.add("\(what): received, p99", deliveryTimes.microseconds(quantile: 0.99) / 1e3, "ms", atMost: 50)
        findings.add("\(what): received, the slowest", deliveryTimes.microseconds(quantile: 1) / 1e3, "ms")
    }
}
