package import Domain
package import FoundationEssentials
package import Wire

/// A partner that a device would like to have again, described by the partner's task.
package struct Preference: Sendable, Hashable {
    package let id: UUID
    /// The title and the start of the partner's task.
    package let title: String
    package let startsAt: Instant
    package let preferredAt: Instant

    package func write(to json: inout JSONText) {
        json.object { object in
            object.member("id", id.text)
            object.member("title", title)
            object.member("startsAt", startsAt.description)
            object.member("preferredAt", preferredAt.description)
        }
    }

    package var json: [UInt8] {
        var json = JSONText()
        write(to: &json)
        return json.bytes
    }
}
