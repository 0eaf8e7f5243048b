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
        let offers = headers.values("Sec-WebSocket-Protocol").flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ",")).map { offer in
                let start = offer.drop(while: Self.isBlank)
                return Array(start.reversed().drop(while: Self.isBlank).reversed())
            }
        }
        self =
            [.extended, .json, .unsupported].first { known in offers.contains(Array((known.token ?? "").utf8)) }
            ?? .none
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == ASCII.space || byte == ASCII.tab }

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
