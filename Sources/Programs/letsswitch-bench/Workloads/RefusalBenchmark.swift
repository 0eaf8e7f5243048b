import FoundationEssentials

/// The cost of a refusal. An app asks for a closed room again and again, each time on a new connection. The baseline
/// accepts the same connections and answers each with a page.
enum RefusalBenchmark {
    static let id = "refusal"
    private static let places = 64

    static func run(_ laboratory: Laboratory, _ report: inout Report) throws(BenchFailure) {
        let relay = try laboratory.relay()
        // The daemon runs without `--open-rooms`, so these rooms are never open.
        let daemon = try laboratory.daemon(flags: ["--loops", "1"])
        let rooms = (0..<places).map { _ in LoadFrame.upgrade(room: UUID().uuidString, offersCompression: false) }
        let pages = rooms.map { _ in LoadRequest.get("/healthz") }
        let servers = [relay.server, daemon.server]
        let options = laboratory.options
        let samples = try Alternation.run(servers, rounds: options.rounds) { index throws(BenchFailure) in
            var load = try RefusalLoad(
                servers[index], requests: index == 0 ? pages : rooms,
                status: index == 0 ? HTTPResponse.success : HTTPResponse.refusal)
            return try load.run(warmUp: options.seconds / 5, seconds: options.seconds)
        }
        let workload = Workload(
            id: id, title: "connect, refused upgrade, close", unit: "connection", kind: .visitors(places: places))
        report.add(Row(workload, samples))
        relay.process.stop()
        daemon.process.stop()
    }
}
