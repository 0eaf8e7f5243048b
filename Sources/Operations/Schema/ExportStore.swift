package import Domain
import Features
package import Postgres

/// The stored data of a device, for its user. Throws `PostgresError`.
///
/// Each export uses its own connection, because it may take as long as its reader. Requests don't wait for it.
package struct ExportStore: Sendable {
    private static let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
    /// One SELECT over the tables of all features, so that the cursor reads only as many rows as are fetched.
    private static let declare = """
        DECLARE export NO SCROLL CURSOR FOR
        SELECT jsonb_build_object('kind', kind, 'stored', jsonb_strip_nulls(stored))::text AS line
        FROM (\(exports.map { "SELECT * FROM \($0)($1)" }.joined(separator: " UNION ALL "))) AS exported
        """
    private static let exports = DatabaseSchema.parts.compactMap { $0.function(.exportDevice) }
    /// Each row has at most a few kilobytes.
    private static let fetch = "FETCH 500 FROM export"

    /// The time limit for the next rows. A person's messages are sorted before the first is returned. The command waits
    /// a minute.
    private static let patience = Duration.seconds(50)

    private let configuration: PostgresConfiguration

    package init(_ configuration: PostgresConfiguration) {
        var configuration = configuration
        configuration.statementTimeout = Self.patience
        self.configuration = configuration
    }

    /// Exports all stored data of a device, as of one moment: JSON objects `{"kind","stored"}`. `take` receives some at
    /// a time. The next ones are read when it returns.
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
