/// Measures servers in turn, round by round, so that whatever the machine does meanwhile it does to all of them.
enum Alternation {
    /// - Returns: Each server's samples, in the order of the servers.
    static func run(
        _ servers: [Server], rounds: Int, measure: (Int) throws(BenchFailure) -> Sample
    ) throws(BenchFailure) -> [[Sample]] {
        var samples = servers.map { _ in [Sample]() }
        for _ in 0..<rounds {
            for index in servers.indices { samples[index].append(try measure(index)) }
        }
        return samples
    }
}
