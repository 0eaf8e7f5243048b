import Access
import Domain
import Features
import FoundationEssentials
import Observability
import Server
import Wire

/// Manages the users that a device doesn't want to meet, as partners or in conversations: `/blocks`. Blocked users
/// aren't notified.
struct BlockController: RouteCollection {
    private let store: BlockStore
    private let identities: IdentityVerifier
    private let log: Log
    private let events: any EventOutbox

    /// - Parameter events: Sends the events of matches that a block dissolves.
    init(store: BlockStore, identities: IdentityVerifier, events: any EventOutbox, log: Log) {
        self.events = events
        self.store = store
        self.identities = identities
        self.log = log
    }

    func boot(routes: RoutesBuilder) {
        routes.post("blocks", as: ConversationDescriptions.makeBlock, registers: true, use: block)
        routes.get("blocks", as: ConversationDescriptions.blocks, use: list)
        routes.delete("blocks", ":id", as: ConversationDescriptions.unblock, use: unblock)
    }

    @Sendable private func block(_ request: Request) async throws -> Response {
        let (body, member) = try identities.decode(request) { try BlockRequest.decode(request.body, identify: $0) }
        try member.checkNew()
        let (block, isNew) = try await store.block(body)
        if isNew { log.info("block created", ["device": .device(body.device)]) }
        return .json(block.json, status: isNew ? .created : .ok)
    }

    @Sendable private func list(_ request: Request) async throws -> Response {
        let member = try identities.member(of: request)
        try member.checkNew()
        let last = try request.query("before").map { text throws(RequestError) in try id(text, "before") }
        let (blocks, hasMore) = try await store.blocks(of: member.device, before: last)
        var json = JSONText()
        json.object { object in
            object.name("blocks")
            object.array { array in
                for block in blocks { block.write(to: &array) }
            }
            if hasMore { object.member("next", blocks.last?.id.text) }
        }
        return .json(json.bytes)
    }

    @Sendable private func unblock(_ request: Request) async throws -> Response {
        let member = try identities.member(of: request)
        try member.checkNew()
        let failure = try await store.unblock(id(request.parameters["id"] ?? "", "A block's id"), by: member.device)
        if let failure {
            log.warning("failed to match tasks after a block was undone", ["error": .string("\(failure)")])
        }
        // A block may have dissolved a match of the two users.
        events.eventWritten()
        return .json(Array("{}".utf8))
    }

    private func id(_ text: String, _ member: String) throws(RequestError) -> UUID {
        guard let id = UUID(text: text) else { throw .invalid(member, "must be a UUID") }
        return id
    }
}
