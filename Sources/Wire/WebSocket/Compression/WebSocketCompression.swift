/// What a server does with offers of permessage-deflate (RFC 7692).
package enum WebSocketCompression: Sendable, Hashable {
    /// Declines them all.
    case none
    /// Takes them, and has every message compressed by itself, both ways (§7.1.1). Between two messages a connection then
    /// holds no memory of zlib's; the price is that nothing is saved on messages that resemble the last one.
    case noContextTakeover
    /// Takes them, and keeps what was sent as the dictionary for what follows, unless the client asks otherwise: about
    /// 300 KB a connection, once compressed messages went both ways, less with smaller windows.
    case full
}
