package import Messaging
package import Rooms
import Server
import Sockets
import Wire

/// What is published for those who take part in a conversation: messages that follow one another.
struct ConversationPublication: Message {
    let page: ConversationPage
}

/// Messages of a page as one who hears conversations is told them: the last ones of it.
package struct HeardMessages {
    package let messages: ArraySlice<ConversationMessage>
    package let page: ConversationPage
    /// What others hear too; `nil` for what is read for this one alone.
    package let shared: Publication?

    /// The page as peers of one kind send it: what others hear too is made once for all of a loop.
    package func form<Form>(make: (ConversationPage) -> Form) -> Form {
        shared?.form { make(page) } ?? make(page)
    }

    var frames: ConversationFrames { form(make: ConversationFrames.init) }
}

/// A page's messages in frames of WebSockets.
final class ConversationFrames {
    private let frames: [SharedBytes]

    init(_ page: ConversationPage) {
        frames = page.messages.map { message in
            let payload = ConversationEvent.message(message, routingKey: page.routingKey).payload
            return SharedBytes { WebSocketFrameEncoder.encode(.text, payload, into: &$0) }
        }
    }

    subscript(index: Int) -> SharedBytes { frames[index] }
}

extension Publication {
    /// What was said.
    var page: ConversationPage? { (message as? ConversationPublication)?.page }

    /// The conversation that it is about, as who watches is told it, and whether it begins: it was made, or it is the first message.
    package var chat: (page: ConversationPage, begins: Bool)? {
        if let page { return (page, page.messages.first?.offset == 1) }
        guard let change = message as? ConversationChange else { return nil }
        return (change.summary, change.notice.change == .made)
    }
}
