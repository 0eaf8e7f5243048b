import Domain
package import Rooms
import Server
import Sockets
import Wire

/// Consecutive messages of a conversation, published to its participants.
struct ConversationPublication: Message {
    let page: ConversationPage
}

/// The messages of a page that a subscriber receives: all, or the last ones.
package struct SubscriberMessages {
    package let messages: ArraySlice<ConversationMessage>
    package let page: ConversationPage
    /// The publication, if other subscribers receive the page, too. `nil` if the page was read for this subscriber
    /// only.
    package let shared: Publication?

    /// Returns the page in the form of a transport. A published page is encoded once per loop.
    package func form<Form>(make: (ConversationPage) -> Form) -> Form {
        shared?.form { make(page) } ?? make(page)
    }

    var frames: ConversationFrames { form(make: ConversationFrames.init) }
}

/// The messages of a page as WebSocket frames.
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
    /// The page, if this is a publication of messages.
    var page: ConversationPage? { (message as? ConversationPublication)?.page }

    /// The conversation of this publication, and whether the conversation is new. A conversation counts as new when it
    /// has just been created, and again when its first message is published. ``ChatNotices`` notifies clients of new
    /// and updated conversations.
    package var chat: (page: ConversationPage, begins: Bool)? {
        if let page { return (page, page.messages.first?.offset == 1) }
        guard let change = message as? ConversationChange else { return nil }
        return (change.summary, change.notice.change == .made)
    }
}
