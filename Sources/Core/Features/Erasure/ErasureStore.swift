package import Domain
package import Postgres

/// Erases devices in the database: each feature hides what it has of the device, and deletes its rows in steps. Every
/// operation is one statement. Throws `PostgresError`.
package struct ErasureStore: Sendable {
    /// The NOTIFY channel of erased devices. Every daemon ends their connections.
    package static let channel = "letsswitch_erased"
    /// The names of the statements, for metrics.
    package static let statementNames = [eraseDevice, eraseMore].map(\.name)

    private static let eraseDevice = PostgresStatement(
        name: "erase_device", sql: "SELECT core.erase_device($1) AS has_more")
    private static let eraseMore = PostgresStatement(name: "erase_more", sql: "SELECT core.erase_more($1) AS has_more")

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// Erases a device. All of its data is invisible when this returns. Returns whether there may be rows that
    /// ``eraseMore(limit:)`` must still delete.
    package func erase(_ device: DeviceID) async throws -> Bool {
        try await database.query(Self.eraseDevice, [.text(device.text)], timeout: nil)[0].boolean("has_more")
    }

    /// Deletes `limit` rows of each kind of an erased device. Returns whether there may be more.
    package func eraseMore(limit: Int) async throws -> Bool {
        try await database.query(Self.eraseMore, [.integer(limit)], timeout: nil)[0].boolean("has_more")
    }
}
