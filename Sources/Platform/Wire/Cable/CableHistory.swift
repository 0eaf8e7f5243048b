/// Where a message stands in a stream that is kept: AnyCable's extended protocol.
package struct CablePosition: Sendable, Hashable {
    package let stream: String
    /// Another whenever a stream's offsets begin anew.
    package let epoch: String
    package let offset: Int

    package init(stream: String, epoch: String, offset: Int) {
        self.stream = stream
        self.epoch = epoch
        self.offset = offset
    }
}

/// What a client of the extended protocol has missed, as it says: `{"since":1795320000,"streams":{"a":{"offset":12,"epoch":"b"}}}`.
package struct CableHistory: Sendable, Hashable {
    /// Streams of which nothing was heard, from when on: seconds since 1970, in years of four digits. `nil`: from now on.
    package let since: Int?
    /// Of the others, the last message that was heard.
    package let positions: [CablePosition]

    package init(since: Int?, positions: [CablePosition] = []) {
        self.since = since
        self.positions = positions
    }

    /// - Parameter json: An object; `nil` if it isn't one, or a member isn't what it is to be.
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
        // A client's word for never.
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

    /// More streams than a channel keeps for one client.
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

/// What a subscription of the extended protocol begins with.
package struct CableResumption: Sendable, Hashable {
    /// `nil`: with what comes.
    package let history: CableHistory?
    /// It is told who comes and goes.
    package let joins: Bool
    /// It was there before the connection was lost, and isn't confirmed anew.
    package let isRestored: Bool

    package init(history: CableHistory?, joins: Bool = false, isRestored: Bool = false) {
        self.history = history
        self.joins = joins
        self.isRestored = isRestored
    }
}

/// What a subscription of the extended protocol wants to know of who is there.
package enum CablePresenceWish: String, Sendable, CaseIterable {
    /// To be told who comes and goes.
    case join
    case leave
    /// Who is there.
    case presence
}
