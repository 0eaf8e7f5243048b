import Foundation

/// The messages that the users of a run sent and received, and the violations among them.
actor MessageRecord {
    struct Message: Hashable, Sendable {
        let offset: Int
        let id: UUID
        let content: String
    }

    /// The contents of acknowledged messages, by the ids that they were sent with.
    private(set) var acknowledged: [UUID: String] = [:]
    /// Messages that were given up without an answer. Each may be stored or not.
    private var abandoned: [UUID: String] = [:]
    private(set) var unanswered = 0
    private(set) var connections = 0
    private var received: [MessageReceiver.Transport: [Message]] = [:]
    private var objections: [String] = []

    /// The number of messages that were acknowledged or given up.
    var settled: Int { acknowledged.count + abandoned.count }

    func wasAcknowledged(_ id: UUID, _ content: String) { acknowledged[id] = content }
    func wasAbandoned(_ id: UUID, _ content: String) { abandoned[id] = content }
    func hadNoAnswer() { unanswered += 1 }
    func wasConnected() { connections += 1 }
    func object(_ violation: String) { objections.append(violation) }

    func wasReceived(_ message: Message, by transport: MessageReceiver.Transport) {
        let expected = (received[transport]?.last?.offset ?? 0) + 1
        if message.offset != expected { objections.append("\(transport) received \(message.offset), not \(expected)") }
        received[transport, default: []].append(message)
    }

    func violations(in stored: [Message]) -> [String] {
        var violations = objections
        let offsets = stored.map(\.offset)
        if offsets != Array(1..<(stored.count + 1)) { violations.append("offsets \(offsets)") }
        let contents = Dictionary(grouping: stored, by: \.id)
        for (id, content) in acknowledged where contents[id]?.map(\.content) != [content] {
            violations.append("\(content) was acknowledged, and there is \(contents[id]?.map(\.content) ?? [])")
        }
        for message in stored where (acknowledged[message.id] ?? abandoned[message.id]) != message.content {
            violations.append("\(message.content) is stored, but no client has sent it")
        }
        for transport in MessageReceiver.Transport.allCases where received[transport, default: []] != stored {
            violations.append(
                "\(transport) has received \(received[transport, default: []].count) of \(stored.count) messages")
        }
        return violations
    }
}
