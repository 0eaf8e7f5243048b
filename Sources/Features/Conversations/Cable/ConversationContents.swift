import Access
import ActionCable
import Wire

/// A message in its encoded form, with its position in the conversation.
struct KeptContent {
    let content: CableContent
    let position: CablePosition

    func contains(_ message: ConversationMessage) -> Bool {
        position.offset == message.offset && position.stream == Topic.conversation(message.conversation).name
    }
}

/// The messages of a page in their encoded form, created once for all Action Cable connections of a loop.
final class ConversationContents {
    private let contents: [KeptContent]

    init(_ page: ConversationPage) {
        let stream = Topic.conversation(page.conversation).name
        contents = page.messages.map { message in
            KeptContent(
                content: ConversationEvent.message(message, routingKey: page.routingKey).content,
                position: CablePosition(stream: stream, epoch: page.epoch, offset: message.offset))
        }
    }

    subscript(index: Int) -> KeptContent { contents[index] }
}

extension ConversationEvent {
    /// The event in the form that Action Cable clients receive.
    var content: CableContent {
        if case .message(let message, _) = self {
            var json = JSONText()
            message.write(to: &json)
            return CableContent(type, data: json.bytes)
        }
        return CableContent(type) { data in writeMembers(to: &data) }
    }
}
