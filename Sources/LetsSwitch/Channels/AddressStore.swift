package import Domain
import FoundationEssentials
package import Postgres

/// Where devices are reached, and the secrets that daemons share, in the database. Every operation is one statement. Throws
/// `PostgresError`.
package struct AddressStore: Sendable {
    private let database: PostgresClient
    private let storage: StorageQuota

    package init(database: PostgresClient, storage: StorageQuota = StorageQuota()) {
        self.database = database
        self.storage = storage
    }

    /// Gives a device an address, of which it may have `most` in this channel: the oldest go. One that another device had becomes
    /// this one's. A repeat renews it.
    ///
    /// - Throws: Also ``RequestError/storageFull(_:)``.
    /// - Parameters:
    ///   - address: 2,048 bytes at most.
    ///   - details: What else the channel has to know: a JSON object.
    package func register(
        _ address: String, details: String = "{}", of device: DeviceID, in channel: ChannelName, most: Int
    ) async throws {
        let rows = try await database.query(
            DeliveryStatements.registerAddress,
            [
                .text(device.text), .text(channel.rawValue), .text(address), .text(details), .integer(most),
                .boolean(storage.isFull(.addresses)),
            ], timeout: nil)
        guard try rows[0].boolean("taken") else { throw RequestError.storageFull(.addresses) }
        storage.added(.addresses)
    }

    /// Forgets a device's address, or all that it has in this channel.
    package func forget(_ address: String?, of device: DeviceID, in channel: ChannelName) async throws {
        _ = try await database.query(
            DeliveryStatements.forgetAddress,
            [.text(device.text), .text(channel.rawValue), address.map { .text($0) } ?? .null], timeout: nil)
    }

    /// A device's addresses, the oldest first.
    package func addresses(of device: DeviceID, in channel: ChannelName) async throws -> [String] {
        let rows = try await database.query(
            DeliveryStatements.addresses, [.text(device.text), .text(channel.rawValue)], timeout: nil)
        return try rows.map { try $0.string("address") }
    }

    /// The secret of this name that all daemons share: `candidate` when there was none yet.
    package func secret(_ name: String, candidate: [UInt8]) async throws -> [UInt8] {
        let rows = try await database.query(
            DeliveryStatements.keepSecret, [.text(name), .text(HexText.encode(candidate))], timeout: nil)
        guard let value = HexText.decode(try rows[0].string("value")) else {
            throw PostgresError(kind: .decoding, message: "column value is not hexadecimal")
        }
        return value
    }
}
