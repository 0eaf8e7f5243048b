package import Domain
package import Postgres

/// What is kept of a person, for the person. One statement. Throws `PostgresError`.
package struct ExportStore: Sendable {
    private static let exportDevice = PostgresStatement(
        name: "export_device", sql: "SELECT jsonb_strip_nulls(letsswitch.export_device($1))::text AS stored")
    /// The names that metrics go by.
    package static let statementNames = [exportDevice.name]

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// All that is stored of a device: a JSON object on one line, without the kinds of which there is nothing.
    package func export(_ device: DeviceID) async throws -> String {
        try await database.query(Self.exportDevice, [.text(device.text)], timeout: nil)[0].string("stored")
    }
}
