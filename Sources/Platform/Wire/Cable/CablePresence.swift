/// The present subscribers, in the form that the extended protocol uses.
package enum CablePresence: Sendable, Hashable {
    case join(String)
    case leave(String)
    case info([String])
    /// Presence isn't available for this subscription.
    case unavailable

    package var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            switch self {
            case .join(let user):
                object.member("type", "join")
                Self.write(user, to: &object)
            case .leave(let user):
                object.member("type", "leave")
                object.member("id", user)
            case .info(let users):
                object.member("type", "info")
                object.member("total", users.count)
                object.name("records")
                object.array { array in
                    for user in users { array.object { Self.write(user, to: &$0) } }
                }
            case .unavailable: object.member("type", "error")
            }
        }
        return json.bytes
    }

    private static func write(_ user: String, to object: inout JSONText) {
        object.member("id", user)
        object.name("info")
        object.object { $0.member("name", user) }
    }
}
