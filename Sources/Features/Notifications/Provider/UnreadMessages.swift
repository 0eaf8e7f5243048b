import Domain
import FoundationEssentials
import Postgres
import Wire

/// Unread messages of a conversation, for an absent user.
struct UnreadMessages: Sendable, Hashable {
    /// A recent message. Only the user may read its text.
    struct Recent: Sendable, Hashable, Decodable {
        let author: String
        let content: String
    }

    /// The maximum number of authors to name.
    private static let listedAuthors = 2

    let conversation: UUID
    /// The names of the participants, separated by commas.
    let name: String
    /// The authors, in the order of their first message.
    let authors: [String]
    let count: Int
    /// The last few messages in order.
    let recent: [Recent]
    /// The tag of the user's device.
    let person: String?

    /// `user1`, `user1 and user2`, `user1, user2 and 3 more`.
    var authorSummary: String {
        switch authors.count {
        case 0...1: return authors.first ?? ""
        case 2: return "\(authors[0]) and \(authors[1])"
        default:
            let first = authors.prefix(Self.listedAuthors).joined(separator: ", ")
            return "\(first) and \(authors.count - Self.listedAuthors) more"
        }
    }

    /// `1 new message`, `5 new messages`.
    var countSummary: String { count == 1 ? "1 new message" : "\(count) new messages" }

    /// JSON without texts: an object on one line.
    var json: String {
        var json = JSONText()
        json.object { object in
            object.member("person", person)
            writeOutline(to: &object)
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Returns JSON with the texts of the last messages. Leaves out or cuts texts until the JSON has at most `maxBytes`
    /// bytes.
    func jsonWithTexts(maxBytes: Int) -> String {
        var messages = recent[...]
        var scalars = 500
        while true {
            let text = jsonWithTexts(messages, scalars: scalars)
            if text.utf8.count <= maxBytes || (messages.count <= 1 && scalars == 0) { return text }
            if messages.count > 1 { messages = messages.dropFirst() } else { scalars = scalars * 3 / 4 }
        }
    }

    private func jsonWithTexts(_ messages: ArraySlice<Recent>, scalars: Int) -> String {
        var json = JSONText()
        json.object { object in
            object.member("type", Delivery.messages)
            writeOutline(to: &object)
            object.name("messages")
            object.array { array in
                for message in messages {
                    array.object { entry in
                        entry.member("author", message.author)
                        entry.member("content", message.content.cut(toScalars: scalars))
                    }
                }
            }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private func writeOutline(to object: inout JSONText) {
        object.member("conversation", conversation.text)
        object.member("name", name)
        object.name("authors")
        object.array { array in for author in authors { array.string(author) } }
        object.member("count", count)
    }
}

extension UnreadMessages {
    /// Reads a row of `notifications.lease_deliveries`.
    init(_ row: PostgresRow) throws {
        let recent = try JSONDecoder().decode([Recent].self, from: Data(try row.string("recent").utf8))
        self.init(
            conversation: try row.uuid("conversation_id"), name: try row.string("names"),
            authors: try row.string("authors").split(separator: ",").map(String.init),
            count: try row.integer("messages"), recent: recent, person: try row.optionalString("person"))
    }
}

extension String {
    /// Cuts the text after this number of scalars, and adds an ellipsis.
    func cut(toScalars count: Int) -> String {
        guard unicodeScalars.count > count else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(count))) + "…"
    }
}
