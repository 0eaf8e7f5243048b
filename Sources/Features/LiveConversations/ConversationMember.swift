package import Access
package import Domain
package import FoundationEssentials
import Messaging
package import Server

/// Who takes part in conversations: a device, as a request or a connection says who it is.
package struct ConversationMember: Sendable {
    package let device: DeviceID
    private let identity: Identity
    /// The one conversation that it is here for; `nil` for all.
    private let only: UUID?

    /// Throws unless a device is named.
    package init(_ identity: Identity, only: UUID? = nil) throws(RequestError) {
        self.identity = identity
        self.only = only
        guard let device = identity.device else { throw .invalid("deviceId", "is missing") }
        self.device = device
    }

    /// When its ticket ends, in seconds since 1970.
    var expiry: Double? { identity.expiry }

    /// Whether it is here for this conversation too, and its ticket as well.
    package func allows(_ conversation: UUID) -> Bool {
        (only ?? conversation) == conversation && identity.allows(.conversation(conversation))
    }

    /// Throws unless its ticket is for this conversation too.
    package func check(_ conversation: UUID) throws(RequestError) {
        guard allows(conversation) else { throw .topicNotAllowed }
    }

    /// Throws unless it may say this where it is to go. A conversation that nobody knows yet is one of all.
    func check(_ target: MessageTarget) throws(RequestError) {
        switch target {
        case .conversation(let conversation): try check(conversation)
        case .conversations(let conversations): for conversation in conversations { try check(conversation) }
        case .participants: try checkNew()
        }
    }

    /// Throws unless its ticket is for conversations that are yet to be made.
    package func checkNew() throws(RequestError) { try check(UUID()) }
}

extension IdentityVerifier {
    /// Who asks, by the query or a ticket.
    package func member(of request: Request) throws -> ConversationMember {
        try ConversationMember(identity(of: request.head))
    }

    /// Who wants to hear its conversations, and from where on.
    func listener(of request: Request) throws -> (member: ConversationMember, after: [UUID: Int]) {
        (try member(of: request), try ConversationOffsets(request.query("after")).offsets)
    }

    /// What a request wants, and who asks, as its body says, or a ticket.
    ///
    /// - Parameter read: Reads the body; what it is given says who asks, by `deviceId` if that is there.
    package func decode<Wanted>(
        _ request: Request, _ read: ((String?) throws -> DeviceID) throws -> Wanted
    ) throws -> (wanted: Wanted, member: ConversationMember) {
        var member: ConversationMember?
        let wanted = try read { named in
            var identity = try identity(of: request.head)
            if named != nil || identity.device == nil {
                identity = try self.identity(identity, naming: DeviceID(named))
            }
            let found = try ConversationMember(identity)
            member = found
            return found.device
        }
        guard let member else { throw RequestError.invalid("deviceId", "is missing") }
        return (wanted, member)
    }
}

/// `<conversation>:<offset>,…`: from where on somebody wants to hear.
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
