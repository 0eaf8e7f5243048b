package import Domain
package import FoundationEssentials
package import Postgres

/// The blocks in the database. Every operation except undoing a block is one statement.
package struct BlockStore: Sendable {
    /// The maximum number of blocks of a device.
    static let perDevice = 1_000
    /// The number of blocks on a page.
    package static let pageCount = 100
    /// The names of the statements, for metrics.
    package static let statementNames = [block, unblock, pairAfter, list].map(\.name)

    private static let block = PostgresStatement(
        name: "add_block", sql: "SELECT * FROM conversations.add_block($1, $2, $3, $4, $5)")
    private static let unblock = PostgresStatement(
        name: "remove_block", sql: "SELECT conversations.remove_block($1, $2) AS other")
    private static let pairAfter = PostgresStatement(
        name: "match_after_block", sql: "SELECT conversations.match_after_block($1, $2)")
    private static let list = PostgresStatement(
        name: "list_blocks", sql: "SELECT * FROM conversations.list_blocks($1, $2, $3)")

    private let database: PostgresClient
    private let storage: StorageQuota

    package init(database: PostgresClient, storage: StorageQuota = StorageQuota()) {
        self.database = database
        self.storage = storage
    }

    package func block(_ request: BlockRequest) async throws -> (block: Block, isNew: Bool) {
        let (name, task): (PostgresParameter, PostgresParameter) =
            switch request.target {
            case .name(let name): (.text(name.text), .null)
            case .partner(let task): (.null, .text(task.text))
            }
        let reservation = storage.reserve(in: .blocks)
        let row = try await storage.using(reservation) {
            try await database.query(
                Self.block,
                [.text(request.device.text), name, task, .integer(Self.perDevice), .boolean(reservation.isGranted)])[0]
        }
        let code = try row.string("code")
        if code != "blocked" { storage.giveBack(reservation) }
        switch code {
        case "blocked":
            storage.added(.blocks)
            return (try Block(row), true)
        case "repeated": return (try Block(row), false)
        case "too_many_blocks":
            throw RequestError(
                status: 429, code: "too_many_blocks",
                reason: "This device already blocks \(Self.perDevice) people, the maximum.")
        case "blocks_full": throw reservation.refusal ?? .storageFull(.blocks)
        default: throw try RequestError.conversationRefused(code)
        }
    }

    /// Undoes a block, and matches waiting tasks that it kept apart.
    ///
    /// - Returns: The error if the matching failed. The block is undone nevertheless.
    @discardableResult
    package func unblock(_ id: UUID, by device: DeviceID) async throws -> (any Error)? {
        let row = try await database.query(Self.unblock, [.text(device.text), .text(id.text)])[0]
        guard let other = try row.optionalString("other") else {
            throw RequestError(status: 404, code: "no_such_block", reason: "This device has no block with this id.")
        }
        // Tasks registered before this moment weren't matched because of the block.
        do {
            try await UnavailabilityRetries.run {
                _ = try await database.query(Self.pairAfter, [.text(device.text), .text(other)])
            }
            return nil
        } catch {
            return error
        }
    }

    /// Returns a page of blocks, the latest first.
    ///
    /// - Parameter last: The last block of the previous page. `nil` for the first page.
    /// - Returns: A page, and whether there may be more.
    package func blocks(of device: DeviceID, before last: UUID? = nil) async throws -> (blocks: [Block], hasMore: Bool)
    {
        let rows = try await database.query(
            Self.list,
            [.text(device.text), last.map { .text($0.text) } ?? .null, .integer(Self.pageCount + 1)])
        let blocks = try rows.map(Block.init)
        return (Array(blocks.prefix(Self.pageCount)), blocks.count > Self.pageCount)
    }
}
