#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A message of a channel. This server's messages have a `type` and `data`.
///
/// ```swift
/// struct Crowd: Decodable { let count: Int }
/// if message.type == "presence" { print(try message.data(as: Crowd.self).count) }
/// ```
public struct CableMessage: Sendable, Hashable {
    /// The message's `type`, or `nil` if the server's messages have none: `message.type == "aleResponse"`
    public let type: String?
    /// The whole message as the server sent it.
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

    /// Decodes the message's `data`.
    ///
    /// ```swift
    /// struct Crowd: Decodable { let count: Int }
    /// let crowd = try message.data(as: Crowd.self)
    /// ```
    public func data<Content: Decodable>(as type: Content.Type = Content.self) throws -> Content {
        try WireDate.decoder.decode(Frame<Body<Content>>.self, from: frame).message.data
    }

    /// Decodes the whole message, for a server whose messages have no `type` and `data`.
    ///
    /// ```swift
    /// let words = try message.content(as: String.self)
    /// ```
    public func content<Content: Decodable>(as type: Content.Type = Content.self) throws -> Content {
        try WireDate.decoder.decode(Frame<Content>.self, from: frame).message
    }
}
