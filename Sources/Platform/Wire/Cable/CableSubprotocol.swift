/// What a handshake of Action Cable agrees on, of what the client offers.
///
/// | offered                                              | answered                  |
/// |------------------------------------------------------|---------------------------|
/// | a list with `actioncable-v1-ext-json`                | that, the extended one    |
/// | a list with `actioncable-v1-json`                    | that                      |
/// | `actioncable-unsupported`, and none that is known    | that, and a disconnection |
/// | nothing, or unknown ones only                        | none; the same protocol   |
package enum CableSubprotocol: Sendable, Hashable {
    case json
    /// AnyCable's: a client that was away is told what it has missed.
    case extended
    /// Rails' JavaScript offers it last, and stays away for good where it is answered.
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

    /// The best first.
    private static let known = [CableSubprotocol.extended, .json, .unsupported]

    /// As `Sec-WebSocket-Protocol` has it (RFC 6455 §4.2.2).
    package var token: String? {
        switch self {
        case .json: "actioncable-v1-json"
        case .extended: "actioncable-v1-ext-json"
        case .unsupported: "actioncable-unsupported"
        case .none: nil
        }
    }
}
