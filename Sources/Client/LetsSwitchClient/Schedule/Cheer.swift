/// A kind of cheer.
///
/// ```swift
/// try await room.cheer(.clap)
/// ```
public enum Cheer: String, Sendable, Hashable, CaseIterable {
    /// A cheer without a kind, the only one that older programs know: `try await room.cheer()`
    case plain
    /// Applause: `try await room.cheer(.clap)`
    case clap
    /// A thumbs-up: `try await room.cheer(.thumb)`
    case thumb
    /// A spark: `try await room.cheer(.spark)`
    case spark
    /// A heart: `try await room.cheer(.heart)`
    case heart
    /// A fire: `try await room.cheer(.fire)`
    case fire

    /// Creates a cheer from the server's name for its kind. An unknown name gives a plain cheer.
    package init(named name: String?) {
        self = name.flatMap(Self.init(rawValue:)) ?? .plain
    }

    /// The server's name for the kind, or `nil` for a plain cheer.
    package var name: String? { self == .plain ? nil : rawValue }
}
