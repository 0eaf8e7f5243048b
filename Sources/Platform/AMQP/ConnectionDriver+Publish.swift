import Basics

// Publishing. It has a time limit, whatever the broker does.
extension ConnectionDriver {
    /// The number of messages that are sent before the broker's frames are read again.
    private static let messagesAtOnce = 16
    /// The maximum number of further keys. All keys have to fit into one frame, even if each has the maximum length.
    private static let mostFurtherKeys = 500

    /// - Returns: The caller's outcome, if the connection is still usable.
    /// - Throws: The error that ends the connection.
    func publish(_ messages: [AMQPMessage], on session: AMQPSession) throws(AMQPError) -> ConnectionCommand.Outcome {
        confirms?.begin()
        var rest = messages[...]
        while !rest.isEmpty {
            if let refusal = try awaitRoom(on: session) { return .failure(refusal) }
            let part = rest.prefix(Self.messagesAtOnce)
            rest = rest.dropFirst(part.count)
            for message in part {
                let names = [message.exchange, message.routingKey] + message.furtherKeys
                guard names.allSatisfy({ $0.utf8.count <= 255 }) else {
                    return .failure(.refused("a routing key or an exchange's name is longer than 255 bytes"))
                }
                guard message.furtherKeys.count <= Self.mostFurtherKeys else {
                    return .failure(.refused("there are too many routing keys for one message"))
                }
                try watched { () throws(AMQPError) in try session.publish(message) }
                confirms?.published()
            }
        }
        return try awaitConfirms(on: session)
    }

    /// Waits until the broker accepts messages, at most for the send timeout.
    ///
    /// - Returns: The reason if the broker doesn't accept messages, or `nil` if it does.
    private func awaitRoom(on session: AMQPSession) throws(AMQPError) -> AMQPError? {
        let deadline = MonotonicTime.now() + configuration.sendTimeout
        try receive(from: session)
        while true {
            let isTimeOver = MonotonicTime.now() >= deadline || mailbox.isStopping
            switch life.phase {
            case .blocked(let reason):
                if isTimeOver { return .refused("the broker accepts no messages: \(reason)") }
                try awaitFrames(from: session, until: deadline)
            case .taking:
                if DescriptorWait.wait(readable: [], writable: session.descriptor, until: .now()) { return nil }
                if isTimeOver { return .refused("the broker doesn't read the data sent to it") }
                try awaitFrames(from: session, orRoom: true, until: deadline)
            case .waiting, .ended: return .unavailable("there is no connection")
            }
        }
    }

    private func awaitConfirms(on session: AMQPSession) throws(AMQPError) -> ConnectionCommand.Outcome {
        let deadline = MonotonicTime.now() + configuration.callTimeout
        while let confirms {
            switch confirms.outcome {
            case .confirmed: return .success(())
            case .rejected(let places): return .failure(.rejected(places: places))
            case .pending where MonotonicTime.now() >= deadline || mailbox.isStopping:
                return .failure(.unavailable("the broker hasn't confirmed in \(configuration.callTimeout)"))
            case .pending:
                try awaitFrames(from: session, until: deadline)
            }
        }
        return .success(())
    }
}
