#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Somebody this device had for a partner, and would like to have again.
///
/// ```swift
/// for preference in try await client.preferences.list() { print(preference.title, preference.startsAt) }
/// ```
public struct Preference: Sendable, Hashable, Decodable {
    /// What it is undone by: `preference.id`
    public let id: UUID
    /// What the other had promised then: `preference.title`
    public let title: String
    /// When the two started: `preference.startsAt`
    public let startsAt: Date
    /// Since when: `preference.preferredAt`
    public let preferredAt: Date

    private enum CodingKeys: String, CodingKey { case id, title, startsAt, preferredAt }

    /// Reads what the server says; its dates are ISO 8601: `try decoder.decode(Preference.self, from: data)`
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(UUID.self, forKey: .id)
        title = try members.decode(String.self, forKey: .title)
        startsAt = try members.decode(Date.self, forKey: .startsAt)
        preferredAt = try members.decode(Date.self, forKey: .preferredAt)
    }
}

/// Whom this device prefers: of several who wait for a start such a one comes first. The others aren't told.
///
/// ```swift
/// let preference = try await client.preferences.add(promise)
/// ```
public struct Preferences: Sendable {
    private let requests: DeviceRequests

    init(_ requests: DeviceRequests) {
        self.requests = requests
    }

    private struct Choice: Encodable {
        let deviceId: String
        let taskId: String
    }

    /// Prefers the partner in one of this device's promises, past or to come. Doing so again is harmless.
    ///
    /// ```swift
    /// try await client.preferences.add(promise)
    /// ```
    ///
    /// - Throws: ``ClientError``, such as `no_partner` in a ``ClientError/refused(_:)``.
    @discardableResult
    public func add(_ promise: TaskPromise) async throws -> Preference {
        try await add(taskID: promise.id.uuidString).preference
    }

    /// The same by the task's id, with the server's own text.
    package func add(taskID: String) async throws -> (preference: Preference, source: String) {
        let bytes = try await requests.post("/preferences", Choice(deviceId: requests.deviceID, taskId: taskID))
        return (try bytes.decoded(as: "preference"), String(decoding: bytes, as: UTF8.self))
    }

    /// All of them, the latest first.
    ///
    /// ```swift
    /// let liked = try await client.preferences.list().map(\.title)
    /// ```
    public func list() async throws -> [Preference] {
        var all: [Preference] = []
        var next: UUID?
        repeat {
            let page = try await page(before: next)
            all += page.preferences
            next = page.next
        } while next != nil
        return all
    }

    /// A hundred of them.
    package func page(before next: UUID? = nil) async throws(ClientError) -> PreferencePage {
        let before = next.map { "&before=\($0.uuidString)" } ?? ""
        return try PreferencePage(try await requests.get("/preferences?\(requests.identity)\(before)"))
    }

    /// Prefers that one no more.
    ///
    /// ```swift
    /// try await client.preferences.remove(preference)
    /// ```
    ///
    /// - Throws: ``ClientError``, such as `no_such_preference` in a ``ClientError/refused(_:)``.
    public func remove(_ preference: Preference) async throws {
        try await remove(id: preference.id.uuidString)
    }

    /// The same by its id.
    package func remove(id: String) async throws(ClientError) {
        _ = try await requests.delete("/preferences/\(escaped(id))?\(requests.identity)")
    }
}

/// Some of a device's preferences.
package struct PreferencePage: Sendable {
    package let preferences: [Preference]
    /// What the next page begins behind; nil after the last.
    package let next: UUID?
    /// The server's own text.
    package let source: String

    private struct Body: Decodable {
        let preferences: [Preference]
        let next: UUID?
    }

    init(_ bytes: [UInt8]) throws(ClientError) {
        let body: Body = try bytes.decoded(as: "preferences")
        preferences = body.preferences
        next = body.next
        source = String(decoding: bytes, as: UTF8.self)
    }
}
