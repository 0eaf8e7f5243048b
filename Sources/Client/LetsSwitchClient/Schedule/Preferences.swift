#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A preferred partner.
///
/// ```swift
/// for preference in try await client.preferences.list() { print(preference.title, preference.startsAt) }
/// ```
public struct Preference: Sendable, Hashable, Decodable {
    /// The preference's id, which is needed to remove the preference: `preference.id`
    public let id: UUID
    /// The title of the partner's task: `preference.title`
    public let title: String
    /// The start of the two tasks: `preference.startsAt`
    public let startsAt: Date
    /// The time at which the preference was added: `preference.preferredAt`
    public let preferredAt: Date

    private enum CodingKeys: String, CodingKey { case id, title, startsAt, preferredAt }

    /// Decodes the server's JSON, with dates in ISO 8601: `try decoder.decode(Preference.self, from: data)`
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(UUID.self, forKey: .id)
        title = try members.decode(String.self, forKey: .title)
        startsAt = try members.decode(Date.self, forKey: .startsAt)
        preferredAt = try members.decode(Date.self, forKey: .preferredAt)
    }
}

/// The partners that this device prefers. If several people wait for the same start, the server chooses a preferred one
/// first. The preferred partners aren't notified.
///
/// ```swift
/// let preference = try await client.preferences.add(task)
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

    /// Prefers the partner of one of this device's tasks, past or future. Preferring the same partner again has no
    /// effect.
    ///
    /// ```swift
    /// try await client.preferences.add(task)
    /// ```
    ///
    /// - Throws: ``ClientError``, such as `no_partner` in a ``ClientError/refused(_:)``.
    @discardableResult
    public func add(_ task: RegisteredTask) async throws -> Preference {
        try await add(taskID: task.id.uuidString).preference
    }

    /// Prefers the partner of the task with this id, and returns the server's JSON, too.
    package func add(taskID: String) async throws -> (preference: Preference, source: String) {
        let bytes = try await requests.post("/preferences", Choice(deviceId: requests.deviceID, taskId: taskID))
        return (try bytes.decoded(as: "preference"), String(decoding: bytes, as: UTF8.self))
    }

    /// Returns all preferences, the latest first.
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

    /// Returns at most 100 preferences.
    package func page(before next: UUID? = nil) async throws(ClientError) -> PreferencePage {
        let before = next.map { "&before=\($0.uuidString)" } ?? ""
        return try PreferencePage(try await requests.get("/preferences?\(requests.identity)\(before)"))
    }

    /// Removes a preference.
    ///
    /// ```swift
    /// try await client.preferences.remove(preference)
    /// ```
    ///
    /// - Throws: ``ClientError``, such as `no_such_preference` in a ``ClientError/refused(_:)``.
    public func remove(_ preference: Preference) async throws {
        try await remove(id: preference.id.uuidString)
    }

    /// Removes the preference with this id.
    package func remove(id: String) async throws(ClientError) {
        _ = try await requests.delete("/preferences/\(escaped(id))?\(requests.identity)")
    }
}

/// A page of a device's preferences.
package struct PreferencePage: Sendable {
    package let preferences: [Preference]
    /// The position of the next page, or `nil` after the last one.
    package let next: UUID?
    /// The JSON that the server sent.
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
