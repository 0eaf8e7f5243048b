import Basics
package import Domain
import FoundationEssentials

extension ConversationStore {
    /// What became of sending.
    package struct Sent: Sendable {
        /// A message in each conversation, and who is to hear it.
        package struct Entry: Sendable {
            package let page: ConversationPage
            /// `false`: it was said before, and this is a repeat.
            package let isNew: Bool
        }

        package let entries: [Entry]

        /// Whether any of them is new.
        package var isNew: Bool { entries.contains(where: \.isNew) }
        package var messages: [ConversationMessage] { entries.flatMap(\.page.messages) }
    }

    /// Says something in all the conversations that it is for, or in none. What goes to one that is known is stored with what others say
    /// at the same time; what goes to several, or to people, by itself.
    package func send(_ message: OutgoingMessage, by device: DeviceID) async throws -> Sent {
        let (conversations, ids, names) = try message.destinations()
        guard names == nil, conversations.count == 1 else {
            return try await writer.store(message.content, by: device, in: conversations, ids, to: names)
        }
        let lane = lanes[Int(conversations[0].uuid.15) % lanes.count]
        let one = MessageWriter.Message(
            device: device, conversation: conversations[0], id: ids[0], content: message.content)
        do {
            return try await lane.call(one, bytes: message.content.utf8.count)
        } catch GatheringError.full {
            throw RequestError.databaseUnavailable
        }
    }
}
