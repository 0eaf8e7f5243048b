package import Domain
import FoundationEssentials
package import Postgres

/// The addresses of devices, and the secrets shared by daemons, in the database. Every operation is one statement.
/// Throws `PostgresError`.
package struct AddressStore: Sendable {
    /// The names of the statements, for metrics.
    package static let statementNames = Statement.all.map(\.name)
    package static let tokenStatementName = Statement.registerToken.name

    /// The statements. Each runs in a transaction of its own.
    private enum Statement {
        static let all = [registerAddress, removeAddress, addresses, allAddresses, keepSecret]

        static let registerAddress = PostgresStatement(
            name: "register_address", sql: "SELECT notifications.register_address($1, $2, $3, $4, $5, $6) AS code")
        static let removeAddress = PostgresStatement(
            name: "remove_address", sql: "SELECT notifications.remove_address($1, $2, $3)")
        static let addresses = PostgresStatement(
            name: "addresses_of",
            sql: """
                SELECT address FROM core.address WHERE device_id = $1 AND channel = $2 ORDER BY registered_at, id
                """)
        static let allAddresses = PostgresStatement(
            name: "all_addresses_of",
            sql: """
                SELECT channel, address, details, \(PostgresStatement.microseconds("registered_at", "now")) FROM (
                    SELECT channel, address, details, id, date_part('epoch', registered_at) AS registered_at,
                        date_part('epoch', core.clock()) AS now
                    FROM core.address WHERE device_id = $1
                ) AS address
                ORDER BY channel, registered_at, id
                """)
        static let keepSecret = PostgresStatement(
            name: "ensure_secret",
            sql: "SELECT encode(core.ensure_secret($1, decode($2, 'hex')), 'hex') AS value")
        static let registerToken = PostgresStatement(
            name: "register_token", sql: "SELECT notifications.register_token($1, $2, $3, $4) AS code")
    }

    private let database: PostgresClient
    private let storage: StorageQuota

    package init(database: PostgresClient, storage: StorageQuota = StorageQuota()) {
        self.database = database
        self.storage = storage
    }

    /// Adds an address of a device, or renews it. If the device has more than `most` addresses with this provider, the
    /// oldest are removed. An address of another device moves to this device.
    ///
    /// - Throws: ``RequestError/storageFull(_:)``, or `PostgresError`.
    /// - Parameters:
    ///   - address: At most 2,048 bytes.
    ///   - details: Further data for the provider: a JSON object.
    package func register(
        _ address: String, details: String = "{}", of device: DeviceID, in provider: ProviderName, most: Int
    ) async throws {
        let reservation = storage.reserve(in: .addresses)
        let rows = try await storage.using(reservation) {
            try await database.query(
                Statement.registerAddress,
                [
                    .text(device.text), .text(provider.rawValue), .text(address), .text(details), .integer(most),
                    .boolean(!reservation.isGranted),
                ])
        }
        try settle(rows[0].string("code"), reservation)
    }

    /// Replaces the device's push token.
    ///
    /// - Throws: ``RequestError/storageFull(_:)``, or `PostgresError`.
    /// - Parameter token: Lowercase hexadecimal.
    package func registerToken(_ token: String, of device: DeviceID, isSandbox: Bool) async throws {
        let reservation = storage.reserve(in: .addresses)
        let rows = try await storage.using(reservation) {
            try await database.query(
                Statement.registerToken,
                [.text(device.text), .text(token), .boolean(isSandbox), .boolean(!reservation.isGranted)])
        }
        try settle(rows[0].string("code"), reservation)
    }

    /// Counts a new address, or gives back the reserved space if no address was added. Throws if the quota was full.
    private func settle(_ code: String, _ reservation: StorageReservation) throws {
        if code == "added" { storage.added(.addresses) } else { storage.giveBack(reservation) }
        if code == "full" { throw reservation.refusal ?? .storageFull(.addresses) }
    }

    /// Removes one address of the device. Removes all its addresses with this provider if `address` is `nil`.
    package func remove(_ address: String?, of device: DeviceID, in provider: ProviderName) async throws {
        _ = try await database.query(
            Statement.removeAddress,
            [.text(device.text), .text(provider.rawValue), address.map { .text($0) } ?? .null], timeout: nil)
    }

    /// Returns a device's addresses, the oldest first.
    package func addresses(of device: DeviceID, in provider: ProviderName) async throws -> [String] {
        let rows = try await database.query(
            Statement.addresses, [.text(device.text), .text(provider.rawValue)], timeout: nil)
        return try rows.map { try $0.string("address") }
    }

    /// Returns a delivery of this reminder for each of a device's addresses.
    func deliveries(of content: ReminderContent, to device: DeviceID) async throws -> [Delivery] {
        let rows = try await database.query(Statement.allAddresses, [.text(device.text)], timeout: nil)
        return try rows.compactMap { row in
            guard let provider = ProviderName(rawValue: try row.string("channel")) else { return nil }
            return Delivery(
                test: content, by: provider, at: try row.epoch("now_us"), address: try row.string("address"),
                details: try row.string("details"), registeredAt: try row.epoch("registered_at_us"))
        }
    }

    /// Returns the secret of this name, shared by all daemons. Stores `candidate` if there is none.
    package func secret(_ name: String, candidate: [UInt8]) async throws -> [UInt8] {
        let rows = try await database.query(
            Statement.keepSecret, [.text(name), .text(HexText.encode(candidate))], timeout: nil)
        guard let value = HexText.decode(try rows[0].string("value")) else {
            throw PostgresError(kind: .decoding, message: "column value is not hexadecimal")
        }
        return value
    }
}
