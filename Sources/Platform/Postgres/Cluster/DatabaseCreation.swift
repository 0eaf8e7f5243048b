extension ClusterNames {
    /// Creates the database in a running server, unless it exists.
    func createDatabase(sockets: String) async throws {
        var configuration = PostgresConfiguration(
            conninfo: ClusterPlacement.conninfo(names: self, sockets: sockets, database: "postgres"),
            applicationName: program)
        // The limit is long, because a machine that has just run `initdb` may be slow.
        configuration.connectTimeout = .seconds(20)
        do {
            let session = try await PostgresSession.connect(configuration)
            let there = try await session.execute("SELECT 1 FROM pg_database WHERE datname = '\(database)'")
            if there?.isEmpty ?? true {
                try await session.execute("CREATE DATABASE \(database)", timeout: .seconds(60))
            }
            await session.close()
        } catch let error as PostgresError {
            throw PrivateClusterError("the private cluster runs, but \(error.message)")
        }
    }
}
