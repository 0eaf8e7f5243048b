/// A kind of cheer.
///
/// ```swift
/// try await room.cheer(.clap)
/// ```
public enum Cheer: String, Sendable, Hashable, CaseIterable {
    /// Just a cheer, which is all that older programs know: `try await room.cheer()`
    case plain
    /// Applause: `try await room.cheer(.clap)`
    case clap
    /// A thumb that points up: `try await room.cheer(.thumb)`
    case thumb
    /// A spark: `try await room.cheer(.spark)`
    case spark
    /// A heart: `try await room.cheer(.heart)`
    case heart
    /// A fire: `try await room.cheer(.fire)`
    case fire

    /// As servers say it; what isn't known is a plain one.
    package init(named name: String?) {
        self = name.flatMap(Self.init(rawValue:)) ?? .plain
    }

    /// As servers are told; a plain one has no name.
    package var name: String? { self == .plain ? nil : rawValue }
}
