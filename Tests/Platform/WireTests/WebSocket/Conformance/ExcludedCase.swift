/// Cases of known conformance suites that the list excludes, with the reasons.
struct ExcludedCase: Sendable {
    let what: String
    let reason: String

    static let all: [ExcludedCase] = [
        ExcludedCase(
            what: "The opening handshake: its errors and its extensions (RFC 6455 §4, RFC 7692 §5)",
            reason: "Lists of their own: WebSocketHandshakeTests and WebSocketNegotiationTests."),
        ExcludedCase(
            what: "A pong with the ping's data, an echoed close code, and who closes TCP (RFC 6455 §5.5, §7.1.1)",
            reason: "What is sent in return is the server's part: ServerTests have it, over a socket."),
        ExcludedCase(
            what: "Messages of many megabytes, and how long they take (RFC 6455 §10.4)",
            reason:
                "Messages have 4 KB by default. Lengths up to 64 KiB show every way to write one; time is measured elsewhere."
        ),
        ExcludedCase(
            what: "Thousands of compressed messages of each size (RFC 7692 §7.2)",
            reason:
                "A suite that connects to /echo sends them; here random messages go both ways in WebSocketDeflateTests."
        ),
        ExcludedCase(
            what: "A fragmented answer to a fragmented message (RFC 6455 §5.4)",
            reason: "Whoever receives may change the fragmentation; the server sends every message in one frame."),
        ExcludedCase(
            what: "A window larger than the one agreed on (RFC 7692 §7.1.2)",
            reason: "A receiver may have more memory than it promised to need, and has."),
        ExcludedCase(
            what: "Other extensions and subprotocols (RFC 6455 §9, §1.9)",
            reason:
                "None is ever agreed on, so no bit nor opcode of theirs is valid: the reserved ones are in the list."),
    ]
}
