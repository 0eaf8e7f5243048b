/// The negotiated protocol of an Action Cable connection.
///
/// ```
/// | offered                                            | answered                         |
/// |----------------------------------------------------|----------------------------------|
/// | a list with `actioncable-v1-ext-json`              | that one: the extended protocol  |
/// | a list with `actioncable-v1-json`                  | that one                         |
/// | `actioncable-unsupported`, and no known one        | that one, then a disconnect      |
/// | nothing, or only unknown ones                      | none; the same protocol          |
/// ```
package enum CableSubprotocol: Sendable, Hashable {
    case json
    /// AnyCable's protocol. A client that reconnects receives the messages that it missed.
    case extended
    /// The subprotocol that Rails' JavaScript client offers last. If a server selects it, that client doesn't
    /// reconnect.
    case unsupported
    case none

    package init(offeredBy headers: HTTPHeaders) {
        var best = Self.known.endIndex
        headers.forEachListElement(of: "Sec-WebSocket-Protocol") { offer in
            best = Self.known[..<best].firstIndex { $0.token?.utf8.elementsEqual(offer) == true } ?? best
            return best > 0
        }
        self = best < Self.known.endIndex ? Self.known[best] : .none
    }

    /// The known subprotocols, in the order of preference.
    private static let known = [CableSubprotocol.extended, .json, .unsupported]

    /// The value of `Sec-WebSocket-Protocol` (RFC 6455 §4.2.2).
    package var token: String? {
        switch self {
        case .json: "actioncable-v1-json"
        case .extended: "actioncable-v1-ext-json"
        case .unsupported: "actioncable-unsupported"
        case .none: nil
        }
    }
}
