/// The method of a request (RFC 9110 §9, and PATCH of RFC 5789). Case matters: `get` isn't `GET`.
package enum HTTPMethod: Sendable, Hashable {
    case get, head, post, put, patch, delete, options, connect, trace
    /// Any other token of at most `HTTPMethod.longest` bytes.
    case other(String)

    /// The maximum number of bytes of a method. A longer method is refused with `501` (RFC 9112 §3).
    package static var longest: Int { 24 }

    /// Creates the method with this name, which must be a token.
    init(token bytes: UnsafeRawBufferPointer) {
        func spells(_ name: StaticString) -> Bool { bytes.equals(UnsafeRawBufferPointer(name)) }
        switch bytes.count {
        case 3 where spells("GET"): self = .get
        case 3 where spells("PUT"): self = .put
        case 4 where spells("POST"): self = .post
        case 4 where spells("HEAD"): self = .head
        case 5 where spells("PATCH"): self = .patch
        case 5 where spells("TRACE"): self = .trace
        case 6 where spells("DELETE"): self = .delete
        case 7 where spells("OPTIONS"): self = .options
        case 7 where spells("CONNECT"): self = .connect
        default: self = .other(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Whether the method is safe (RFC 9110 §9.2.1). TRACE isn't included, because no route here has it.
    package var isSafe: Bool {
        switch self {
        case .get, .head, .options: true
        default: false
        }
    }

    /// The name in the request line.
    package var name: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .patch: "PATCH"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .connect: "CONNECT"
        case .trace: "TRACE"
        case .other(let name): name
        }
    }
}
