import Domain
import Wire

/// The content of a JSON Web Token: its device, its expiry, and perhaps its topics.
package struct Ticket: Sendable, Hashable {
    /// The maximum number of topics: the default number of subscriptions of a connection.
    package static let maximumTopics = 100

    let device: DeviceID
    /// Seconds since 1970. The ticket is invalid from that second on.
    let expiry: Double
    /// `nil` for all topics.
    let topics: [TopicPattern]?

    init(device: DeviceID, expiry: Double, topics: [TopicPattern]? = nil) {
        self.device = device
        self.expiry = expiry
        self.topics = topics
    }

    /// Returns how long a connection waits before it checks its ticket's expiry again. The wait is short, because the
    /// system's clock may be set during the wait.
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

    /// Decodes signed claims. Errors in them are the signer's mistakes.
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
    /// The claims of a token, in whole seconds.
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
