/// Runs a workload against servers in turn.
struct WorkloadRun {
    let workload: Workload
    let options: Options
    /// The servers to measure. The first one is the baseline.
    let servers: [Server]

    /// The time in seconds for which each round loads the server before it measures.
    private var warmUp: Double { options.seconds / 5 }

    func run() throws(BenchFailure) -> [[Sample]] {
        switch workload.kind {
        case .fanOut(let size, let rooms, let pattern):
            let crowds = try crowds(roomSize: size, rooms: rooms, burst: pattern.burst)
            return try alternate { index throws(BenchFailure) in
                var load = try ClosedLoop(crowds[index], pattern)
                return try load.run(warmUp: warmUp, seconds: options.seconds)
            }
        case .steady(let size, let rooms, let rate):
            let crowds = try crowds(roomSize: size, rooms: rooms, burst: 1)
            return try alternate { index throws(BenchFailure) in
                var load = try OpenLoop(crowds[index])
                return try load.run(rate: rate, warmUp: warmUp, seconds: options.seconds)
            }
        case .arrivals(let peers):
            let peers = Int((Double(peers) * min(1, options.seconds)).rounded(.up)) / 2 * 2
            return try alternate { index throws(BenchFailure) in
                var load = try ArrivalLoad(
                    servers[index], peers: peers, offersCompression: options.offersCompression)
                return try load.run()
            }
        case .visitors(let places):
            return try alternate { index throws(BenchFailure) in
                var load = try VisitorLoad(servers[index], places: places)
                return try load.run(warmUp: warmUp, seconds: options.seconds)
            }
        case .requests(let path, let connections):
            return try alternate { index throws(BenchFailure) in
                let request = LoadRequest.get(path)
                var load = try RequestLoad(servers[index], connections: connections) { _ in request }
                return try load.run(warmUp: warmUp, seconds: options.seconds)
            }
        }
    }

    private func crowds(roomSize: Int, rooms: Int, burst: Int) throws(BenchFailure) -> [Crowd] {
        var crowds: [Crowd] = []
        for server in servers {
            let crowd = Crowd(
                of: server, roomSize: roomSize, roomCount: rooms, burst: burst,
                offersCompression: options.offersCompression)
            try crowd.gather()
            crowds.append(crowd)
        }
        return crowds
    }

    private func alternate(
        _ measure: (Int) throws(BenchFailure) -> Sample
    ) throws(BenchFailure) -> [[Sample]] {
        try Alternation.run(servers, rounds: options.rounds, measure: measure)
    }
}

extension ClosedLoop.Pattern {
    /// The maximum number of ales that one peer sends in one call.
    var burst: Int {
        switch self {
        case .oneMember(let ales): ales
        case .everyMember: 1
        }
    }
}

/// Measures servers in turn, round by round. Disturbances then affect all of them.
enum Alternation {
    /// - Returns: Each server's samples, in the order of the servers.
    static func run(
        _ servers: [Server], rounds: Int, measure: (Int) throws(BenchFailure) -> Sample
    ) throws(BenchFailure) -> [[Sample]] {
        var samples = servers.map { _ in [Sample]() }
        for _ in 0..<rounds {
            for index in servers.indices {
                // Waits until work of earlier rounds is done, so that it doesn't count for this round.
                for server in servers { try server.waitUntilIdle() }
                samples[index].append(try measure(index))
            }
        }
        return samples
    }
}
