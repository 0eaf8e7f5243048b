import Basics
package import Domain
import FoundationEssentials

extension ConversationStore {
    /// The result of sending a message.
    package struct Sent: Sendable {
        /// The message in one conversation, with its recipients.
        package struct Entry: Sendable {
            package let page: ConversationPage
            /// Whether the message is new. `false` for a repeat of a stored message.
            package let isNew: Bool
            /// Whether the conversation was created for the message.
            let makesConversation: Bool
        }

        package let entries: [Entry]

        /// Whether the message is new in any conversation.
        package var isNew: Bool { entries.contains(where: \.isNew) }
        package var messages: [ConversationMessage] { entries.flatMap(\.page.messages) }
    }

    /// Stores a message in all its conversations, or in none. A message to one known conversation is stored together
    /// with others that arrive at about the same time. A message to several conversations or to users is stored alone.
    package func send(_ message: OutgoingMessage, by device: DeviceID) async throws -> Sent {
        let destinations = try message.destinations()
        let reservation = storage.reserve(in: .messages, count: destinations.1.count)
        // If only the total quota is full, the statement still runs, because it accepts repeats.
        if let refusal = reservation.refusal, !storage.isFull(.messages) { throw refusal }
        let newConversation = storage.reserve(in: .conversations, count: destinations.2 == nil ? 0 : 1)
        let sent = try await storage.using(reservation) {
            try await storage.using(newConversation) {
                try await send(message, by: device, to: destinations, newConversation)
            }
        }
        storage.giveBack(reservation, used: sent.entries.count(where: \.isNew))
        storage.giveBack(newConversation, used: sent.entries.count(where: \.makesConversation))
        return sent
    }

    private func send(
        _ message: OutgoingMessage, by device: DeviceID, to destinations: ([UUID], [UUID], [String]?),
        _ newConversation: StorageReservation
    ) async throws -> Sent {
        let (conversations, ids, names) = destinations
        guard names == nil, conversations.count == 1 else {
            return try await writer.store(
                message.content, by: device, in: conversations, ids, to: names, newConversation: newConversation)
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
