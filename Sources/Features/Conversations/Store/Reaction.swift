import Domain
package import FoundationEssentials
import Wire

/// The reactions to a message that have the same emoji.
package struct Reaction: Sendable, Hashable {
    /// The maximum number of names. Further users are only counted.
    static let maximumNames = 20

    package let emoji: String
    package let count: Int
    /// The first users that reacted, in order.
    package let users: [String]

    package init(emoji: String, count: Int, users: [String]) {
        self.emoji = emoji
        self.count = count
        self.users = users
    }

    func write(to json: inout JSONText) {
        json.object { object in
            object.member("emoji", emoji)
            object.member("count", count)
            object.name("users")
            object.array { array in
                for user in users { array.string(user) }
            }
        }
    }
}

/// A reaction to add to a message, or to remove from it.
package struct ReactionRequest: Sendable, Hashable {
    package enum Action: Sendable, Hashable { case add, remove }

    package let conversation: UUID
    package let message: UUID
    package let emoji: Emoji
    package let action: Action

    package init(conversation: UUID, message: UUID, emoji: Emoji, action: Action) {
        self.conversation = conversation
        self.message = message
        self.emoji = emoji
        self.action = action
    }
}

/// The body of a request to react: `{deviceId, emoji}`.
struct ReactionBody {
    let device: DeviceID
    let emoji: Emoji

    /// Throws `invalid_request` with the name of the invalid field.
    ///
    /// - Parameter identify: Returns the device for the body's `deviceId`, which may be missing.
    static func decode(_ body: [UInt8], identify: (String?) throws -> DeviceID) throws -> ReactionBody {
        let members = try RequestFields.decode(Members.self, from: body)
        return ReactionBody(device: try identify(members.deviceId), emoji: try Emoji(members.emoji))
    }

    private struct Members: Decodable {
        let deviceId: String?
        let emoji: String

        init(from decoder: any Decoder) throws {
            let fields = try RequestFields(decoder)
            deviceId = try fields.optionalText("deviceId")
            emoji = try fields.text("emoji")
        }
    }
}
