import Postgres
import TestSupport
import Testing

@Suite struct PoolerProbeTests {
    private func probe(_ conninfo: String) async throws {
        var configuration = PostgresConfiguration(conninfo: conninfo)
        configuration.connectTimeout = .seconds(20)
        try await PoolerProbe.run(configuration, limit: Deadline.standard)
    }

    @Test("A direct connection and a simple relay pass the probe")
    func direct() async throws {
        let conninfo = try await TestCluster.shared.makeDatabase()
        for _ in 1...20 { try await probe(conninfo) }
        let words = ConnectionWords(conninfo)
        let relay = try StallingRelay(to: try words.socket())
        try await probe(try words.conninfo(through: relay.port))
        relay.close()
    }

    @Test("A pooler in transaction mode is found", arguments: [1, 2, 3, 4, 5])
    func pooler(servers: Int) async throws {
        let conninfo = try await TestCluster.shared.makeDatabase()
        for takesOldest in [false, true] {
            let pooler = try TransactionPooler(toDatabase: conninfo, maxServers: servers, takesOldest: takesOldest)
            await #expect(throws: TransactionPoolerError.self) { try await probe(pooler.conninfo) }
            pooler.close()
        }
    }

    @Test("An unavailable database isn't taken for a pooler")
    func absent() async {
        await #expect(throws: PostgresError.self) { try await probe("host=/nowhere dbname=x") }
    }
}
