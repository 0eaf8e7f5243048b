/// Puts the same load on daemons, on relays, and on clients that use PostgreSQL or RabbitMQ directly, one after the other in
/// each round.
struct CrossingRounds {
    struct Samples {
        /// The highest throughput, with one ale in flight in each room.
        var most: [Sample] = []
        /// The latencies at a rate that is the same for daemons, relays and clients.
        var steady: [Sample] = []
    }

    struct Outcome {
        var daemons = Samples()
        var relays = Samples()
        var engine = Samples()
    }

    /// The ales per second while latencies are measured. A hundredth of a second then has a few hundred deliveries.
    private static let rate = 1_000.0

    let laboratory: Laboratory
    let engine: BusEngine
    let daemons: Crowd
    let relays: Crowd?
    private var options: Options { laboratory.options }

    func run() throws(BenchFailure) -> Outcome {
        var outcome = Outcome()
        var random = SeededRandom(seed: options.seed)
        for _ in 0..<options.rounds {
            try load(daemons, &random, &outcome.daemons)
            if let relays { try load(relays, &random, &outcome.relays) }
            // A single daemon sends nothing over the bus.
            if daemons.servers.count > 1 { try loadEngine(&random, &outcome.engine) }
        }
        return outcome
    }

    private func load(
        _ crowd: Crowd, _ random: inout SeededRandom, _ samples: inout Samples
    ) throws(BenchFailure) {
        for server in daemons.servers + (relays?.servers ?? []) { try server.waitUntilIdle() }
        var load = try FleetLoad(crowd, random: &random)
        samples.most.append(try load.run(.closed, warmUp: options.seconds / 5, seconds: options.seconds))
        samples.steady.append(
            try load.run(.open(rate: Self.rate), warmUp: options.seconds / 5, seconds: options.seconds))
    }

    private func loadEngine(_ random: inout SeededRandom, _ samples: inout Samples) throws(BenchFailure) {
        let count = daemons.servers.count
        var deal = SeededRandom(seed: options.seed)
        var bare = try BareLoad(
            try engine.carriers(count, conninfo: laboratory.conninfo), roomSize: daemons.roomSize,
            rooms: daemons.roomCount, random: &random
        ) { Int.random(in: 0..<count, using: &deal) }
        samples.most.append(try bare.run(.closed, warmUp: options.seconds / 5, seconds: options.seconds))
        samples.steady.append(
            try bare.run(.open(rate: Self.rate), warmUp: options.seconds / 5, seconds: options.seconds))
    }
}
