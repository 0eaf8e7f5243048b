/// The position of a message in a stored stream: AnyCable's extended protocol.
package struct CablePosition: Sendable, Hashable {
    package let stream: String
    /// A text that changes whenever the offsets of the stream start again.
    package let epoch: String
    package let offset: Int

    package init(stream: String, epoch: String, offset: Int) {
        self.stream = stream
        self.epoch = epoch
        self.offset = offset
    }
}

/// The messages that a client of the extended protocol has missed:
/// `{"since":1795320000,"streams":{"a":{"offset":12,"epoch":"b"}}}`.
package struct CableHistory: Sendable, Hashable {
    /// The time from which to send messages of streams without a position, in seconds since 1970. The year has four
    /// digits. `nil` means from now on.
    package let since: Int?
    /// The positions of the last received messages, for all streams that have one.
    package let positions: [CablePosition]

    package init(since: Int?, positions: [CablePosition] = []) {
        self.since = since
        self.positions = positions
    }

    /// - Parameter json: The text of an object. The result is `nil` if it isn't one, or if a field is invalid.
    package init?(_ json: [UInt8]) {
        guard let object = JSONObject(json) else { return nil }
        switch object["since"] {
        case nil, .null?: since = nil
        case .number(let digits)?:
            guard let seconds = Double(String(decoding: digits, as: UTF8.self)), (0..<253_402_300_800).contains(seconds)
            else {
                return nil
            }
            since = Int(seconds)
        // Clients write `false` if they want no messages from before.
        case .boolean(false)?: since = nil
        case .string?, .boolean?, .nested?: return nil
        }
        switch object["streams"] {
        case nil, .null?: positions = []
        case .nested(let streams)?:
            guard let streams = JSONObject(streams), let positions = Self.positions(streams) else { return nil }
            self.positions = positions
        case .string?, .number?, .boolean?: return nil
        }
    }

    /// The maximum number of positions. A channel stores fewer streams for one client.
    private static let maxPositions = 10_000

    private static func positions(_ streams: JSONObject) -> [CablePosition]? {
        guard streams.count <= maxPositions else { return nil }
        var positions: [CablePosition] = []
        for (name, value) in streams.all {
            guard case .nested(let json) = value, let position = JSONObject(json),
                let epoch = position.string("epoch"), case .number(let digits)? = position["offset"],
                let offset = Int(String(decoding: digits, as: UTF8.self)), offset >= 0
            else { return nil }
            positions.append(
                CablePosition(
                    stream: String(decoding: name, as: UTF8.self), epoch: String(decoding: epoch, as: UTF8.self),
                    offset: offset))
        }
        return positions
    }
}

/// The start of a subscription of the extended protocol.
package struct CableResumption: Sendable, Hashable {
    /// The missed messages, or `nil` if the client wants only new messages.
    package let history: CableHistory?
    /// Whether the client wants to be notified when subscribers enter and leave.
    package let joins: Bool
    /// Whether the subscription existed before the connection was lost. Such a subscription isn't confirmed again.
    package let isRestored: Bool

    package init(history: CableHistory?, joins: Bool = false, isRestored: Bool = false) {
        self.history = history
        self.joins = joins
        self.isRestored = isRestored
    }
}

/// A request of an extended subscription about presence.
package enum CablePresenceRequest: String, Sendable, CaseIterable {
    /// Notify the client when other subscribers enter or leave.
    case join
    case leave
    /// Send a list of the present subscribers.
    case presence
}
