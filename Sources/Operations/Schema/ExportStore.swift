package import Domain
package import Postgres

/// What is kept of a person, for the person. Throws `PostgresError`.
///
/// A connection of its own for each, since it may take as long as whoever reads it: nobody's request waits behind it.
package struct ExportStore: Sendable {
    private static let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
    private static let declare = """
        DECLARE export NO SCROLL CURSOR FOR
        SELECT jsonb_build_object('kind', kind, 'stored', jsonb_strip_nulls(stored))::text AS line FROM letsswitch.export_device($1)
        """
    /// Rows, of a few kilobytes at most each.
    private static let fetch = "FETCH 500 FROM export"

    /// For the next rows: a person's messages are sorted before the first of them comes. The command waits a minute.
    private static let patience = Duration.seconds(50)

    private let configuration: PostgresConfiguration

    package init(_ configuration: PostgresConfiguration) {
        var configuration = configuration
        configuration.statementTimeout = Self.patience
        self.configuration = configuration
    }

    /// All that is stored of a device, as it is at one moment: JSON objects `{"kind","stored"}`. `take` gets some at a time, and the next
    /// are read when it returns.
    package func export(_ device: DeviceID, _ take: ([String]) async throws -> Void) async throws {
        let session = try await PostgresSession.connect(configuration)
        do {
            try await session.execute(Self.begin)
            try await session.execute(Self.declare, [.text(device.text)])
            while let rows = try await session.execute(Self.fetch, timeout: Self.patience), !rows.isEmpty {
                try await take(try rows.map { try $0.string("line") })
            }
        } catch {
            await session.close()
            throw error
        }
        await session.close()
    }
}
