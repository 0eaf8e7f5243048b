#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a channel says: on this server a `type` and its `data`.
///
/// ```swift
/// struct Crowd: Decodable { let count: Int }
/// if message.type == "presence" { print(try message.data(as: Crowd.self).count) }
/// ```
public struct CableMessage: Sendable, Hashable {
    /// The message's own `type`; `nil` where a server's messages have none: `message.type == "aleResponse"`
    public let type: String?
    /// What the server sent, whole.
    private let frame: Data

    init(type: String?, frame: Data) {
        self.type = type
        self.frame = frame
    }

    private struct Frame<Content: Decodable>: Decodable {
        let message: Content
    }

    private struct Body<Content: Decodable>: Decodable {
        let data: Content
    }

    /// The message's `data`.
    ///
    /// ```swift
    /// struct Crowd: Decodable { let count: Int }
    /// let crowd = try message.data(as: Crowd.self)
    /// ```
    public func data<Content: Decodable>(as type: Content.Type = Content.self) throws -> Content {
        try WireDate.decoder.decode(Frame<Body<Content>>.self, from: frame).message.data
    }

    /// The whole message, for servers that have no `type` and `data`.
    ///
    /// ```swift
    /// let words = try message.content(as: String.self)
    /// ```
    public func content<Content: Decodable>(as type: Content.Type = Content.self) throws -> Content {
        try WireDate.decoder.decode(Frame<Content>.self, from: frame).message
    }
}
