package import Access
package import Domain
package import FoundationEssentials
package import Server

/// A participant in conversations. Identified by the device of a request or a connection.
package struct ConversationMember: Sendable {
    package let device: DeviceID
    private let identity: Identity
    /// The only conversation that the member may use. `nil` if it may use all.
    private let only: UUID?

    /// Throws if no device is named.
    package init(_ identity: Identity, only: UUID? = nil) throws(RequestError) {
        self.identity = identity
        self.only = only
        guard let device = identity.device else { throw .invalid("deviceId", "is missing") }
        self.device = device
    }

    /// The time at which the ticket expires, in epoch seconds. `nil` without a ticket.
    var expiry: Double? { identity.expiry }

    /// Returns whether this member and its ticket may use the conversation.
    package func allows(_ conversation: UUID) -> Bool {
        (only ?? conversation) == conversation && identity.allows(.conversation(conversation))
    }

    /// Throws if the ticket doesn't include this conversation.
    package func check(_ conversation: UUID) throws(RequestError) {
        guard allows(conversation) else { throw .topicNotAllowed }
    }

    /// Throws if the ticket doesn't allow a message to this target. A conversation that doesn't exist yet requires a
    /// ticket for all conversations.
    func check(_ target: MessageTarget) throws(RequestError) {
        switch target {
        case .conversation(let conversation): try check(conversation)
        case .conversations(let conversations): for conversation in conversations { try check(conversation) }
        case .participants: try checkNew()
        }
    }

    /// Throws if the ticket doesn't include new conversations.
    package func checkNew() throws(RequestError) { try check(UUID()) }
}

extension IdentityVerifier {
    /// Returns the member named by the query or by a ticket.
    package func member(of request: Request) throws -> ConversationMember {
        try ConversationMember(identity(of: request.head))
    }

    /// Returns the member that a request for a feed names, and the offsets from which to start.
    func listener(of request: Request) throws -> (member: ConversationMember, after: [UUID: Int]) {
        (try member(of: request), try ConversationOffsets(request.query("after")).offsets)
    }

    /// Decodes a body. Also returns the member named by the body or by a ticket.
    ///
    /// - Parameter read: Decodes the body. Its argument returns the device for the body's `deviceId`, which may be
    ///   missing.
    package func decode<Content>(
        _ request: Request, _ read: ((String?) throws -> DeviceID) throws -> Content
    ) throws -> (content: Content, member: ConversationMember) {
        var member: ConversationMember?
        let content = try read { named in
            var identity = try identity(of: request.head)
            if named != nil || identity.device == nil {
                identity = try self.identity(identity, naming: DeviceID(named))
            }
            let found = try ConversationMember(identity)
            member = found
            return found.device
        }
        guard let member else { throw RequestError.invalid("deviceId", "is missing") }
        return (content, member)
    }
}

/// The offsets from which to start: `<conversation>:<offset>,…`.
package struct ConversationOffsets: Sendable {
    private static let maximumCount = 1_000

    package let offsets: [UUID: Int]

    /// Throws `invalid_request`.
    package init(_ text: String?) throws(RequestError) {
        var offsets: [UUID: Int] = [:]
        for entry in (text ?? "").split(separator: ",", maxSplits: Self.maximumCount) {
            let parts = entry.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let conversation = UUID(text: String(parts[0])), let offset = Int(parts[1]),
                offset >= 0, offsets.count < Self.maximumCount
            else {
                throw .invalid(
                    "after",
                    "must be a list of at most \(Self.maximumCount) entries like <conversation>:<offset>,<conversation>:<offset>"
                )
            }
            offsets[conversation] = offset
        }
        self.offsets = offsets
    }
}
