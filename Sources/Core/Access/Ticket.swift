import Domain
import Wire

/// What a JSON Web Token says: for which device it is, until when, and perhaps for what alone.
package struct Ticket: Sendable, Hashable {
    /// As many as a connection has subscriptions, unless it may have more.
    package static let maximumTopics = 100

    let device: DeviceID
    /// Seconds since 1970: from then on it is worth nothing.
    let expiry: Double
    /// `nil` for all.
    let topics: [TopicPattern]?

    init(device: DeviceID, expiry: Double, topics: [TopicPattern]? = nil) {
        self.device = device
        self.expiry = expiry
        self.topics = topics
    }

    /// How long a connection waits before it looks again whether its ticket, good for so many seconds yet, has expired: not for long, since
    /// the clock may be set meanwhile.
    package static func wait(forExpiryIn seconds: Double) -> Duration {
        .seconds(min(seconds, 30))
    }

    func allows(_ topic: Topic) -> Bool {
        topics?.contains { $0.matches(topic) } ?? true
    }
}

extension Ticket: Decodable {
    private enum Claim: String, CodingKey {
        case sub, exp, topics
    }

    /// From claims that were signed, so that what is wrong in them is their signer's mistake.
    package init(from decoder: any Decoder) throws {
        let claims = try decoder.container(keyedBy: Claim.self)
        device = try DeviceID(claims.decode(String.self, forKey: .sub))
        expiry = try claims.decode(Double.self, forKey: .exp)
        guard claims.contains(.topics) else {
            topics = nil
            return
        }
        let patterns = try claims.decode([String].self, forKey: .topics)
        guard patterns.count <= Self.maximumTopics else {
            throw DecodingError.dataCorruptedError(forKey: .topics, in: claims, debugDescription: "too many")
        }
        topics = patterns.map(TopicPattern.init)
    }
}

extension Ticket {
    /// The claims of a token, for whole seconds.
    var claims: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("sub", device.text)
            object.member("exp", Int(min(expiry.rounded(.up), 1e15)))
            guard let topics else { return }
            object.name("topics")
            object.array { array in
                for topic in topics { array.string(topic.text) }
            }
        }
        return json.bytes
    }
}
