/// A parser of untrusted bytes, and the properties that must hold for every input.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// HTTP requests of a connection.
    case http
    /// A WebSocket peer's frames, with and without compression.
    case websocket
    /// permessage-deflate, both directions.
    case deflate
    /// Messages of peers in a room.
    case message
    /// Messages of Action Cable clients.
    case cable
    /// Messages and forms of a question session's audience.
    case questions
    /// Messages on a conversation's socket.
    case conversations
    /// A server's response, and the bytes that follow it.
    case response
    /// A server's event stream.
    case events
    /// Messages of a server to a program that uses the client library.
    case answers
    /// Events of the client library's connections and subscriptions, in any order.
    case client
    /// Routing keys and patterns for them.
    case topics
    /// Messages from other daemons and from a broker.
    case bus
    /// PROXY headers, versions 1 and 2.
    case proxy
    /// `X-Forwarded-For`.
    case forwarded
    /// Bodies of requests, with their dates and times.
    case request
    /// Sequences of whole requests to daemons with a database.
    case schedule

    /// The maximum length of an input. Longer ones find nothing new.
    package static var longestInput: Int { 4096 }

    /// Throws if a property doesn't hold for `bytes`.
    package func check(_ bytes: UnsafeRawBufferPointer) throws(BrokenProperty) {
        let input = FuzzInput(bytes)
        switch self {
        case .http: try HTTPProperties.check(input)
        case .websocket: try WebSocketProperties.check(input)
        case .deflate: try DeflateProperties.check(input)
        case .message: try MessageProperties.check(input)
        case .cable: try CableProperties.check(input)
        case .questions: try QuestionProperties.check(input)
        case .conversations: try ConversationProperties.check(input)
        case .response: try ResponseProperties.check(input)
        case .events: try EventStreamProperties.check(input)
        case .answers: try AnswerProperties.check(input)
        case .client: try ClientProperties.check(input)
        case .topics: try TopicProperties.check(input)
        case .bus: try BusProperties.check(input)
        case .proxy: try ProxyProperties.check(input)
        case .forwarded: try ForwardedProperties.check(input)
        case .request: try RequestProperties.check(input)
        case .schedule: try ScheduleProperties.check(input)
        }
    }
}
