import Wire

/// A request, valid or not, and its expected result. The tests send a list of them.
struct HTTPShape: Sendable, CustomStringConvertible {
    let bytes: [UInt8]
    /// The statuses of the answers, in order.
    let statuses: [Int]
    /// Whether the connection ends and nothing after the request is read.
    let ends: Bool

    var description: String { "\(statuses): \(String(decoding: bytes.prefix(80), as: UTF8.self).debugDescription)" }

    /// A request that is refused. The connection is closed, because the end of the request is unknown.
    private static func refused(_ status: Int, _ text: String) -> HTTPShape {
        HTTPShape(bytes: Array(text.utf8), statuses: [status], ends: true)
    }

    private static func served(_ statuses: [Int], closing: Bool = false, _ text: String) -> HTTPShape {
        HTTPShape(bytes: Array(text.utf8), statuses: statuses, ends: closing)
    }

    private static func get(_ fields: String) -> String { "GET /now/1 HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n" }
    private static func post(_ fields: String, _ body: String) -> String {
        "POST /echo HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n\(body)"
    }
    private static func chunked(_ body: String) -> String { post("Transfer-Encoding: chunked", body) }
    private static func target(_ target: String) -> String { "GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n" }
    private static func long(_ count: Int) -> String { String(repeating: "x", count: count) }

    static let all = lengths + chunks + fields + targets + requestLines + sound + websockets

    /// The end of a body (RFC 9112 §6).
    private static let lengths: [HTTPShape] =
        [
            "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
            "Content-Length: 0\r\nTransfer-Encoding: chunked", "Content-Length: 5\r\nContent-Length: 6",
            "Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5, 5", "Content-Length: 5,6",
            "Content-Length: +5", "Content-Length: -5", "Content-Length: 5 5", "Content-Length: 0x5",
            "Content-Length: 5;", "Content-Length: 5.0", "Content-Length: 1e1", "Content-Length:",
            "Content-Length: 18446744073709551621", "Content-Length: 99999999999999999999", "Content-Length : 5",
            "Content-Length\t: 5", "Content-Length: \u{B}5", "Content_Length: 5\r\nContent-Length: x",
            "Transfer-Encoding:", "Transfer-Encoding: chunked, chunked",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding : chunked",
            "Transfer-Encoding: \u{B}chunked", "Transfer-Encoding:\r\n chunked",
        ].map { refused(400, post($0, "5\r\nhello\r\n0\r\n\r\n")) }
        + [
            "Transfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, gzip",
            "Transfer-Encoding: identity", "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked;q=1",
            "Transfer-Encoding: \"chunked\"", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        ].map { refused(501, post($0, "5\r\nhello\r\n0\r\n\r\n")) }
        + [
            // White space around a value isn't part of it (RFC 9110 §5.5), and leading zeros of a number change
            // nothing.
            served([200], post("Content-Length:  \t5", "hello")), served([200], post("Content-Length: 005", "hello")),
            served([200], post("Transfer-Encoding: , chunked", "0\r\n\r\n")),
            // HTTP/1.0 has no chunked transfer coding.
            refused(400, "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            refused(413, post("Content-Length: 65537", "")),
            refused(413, post("Content-Length: 9223372036854775807", "")),
            refused(417, post("Content-Length: 5\r\nExpect: a lot", "")),
            refused(413, post("Content-Length: 65537\r\nExpect: 100-continue", "")),
        ]

    /// RFC 9112 §7.1.
    private static let chunks: [HTTPShape] =
        [
            "+5\r\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n", " 5\r\nhello\r\n0\r\n\r\n",
            "5 \r\nhello\r\n0\r\n\r\n", "5\t\r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n",
            "5 ;a\r\nhello\r\n0\r\n\r\n", "\r\nhello\r\n0\r\n\r\n", ";a\r\nhello\r\n0\r\n\r\n",
            "g\r\nhello\r\n0\r\n\r\n", "5\nhello\r\n0\r\n\r\n", "5\rhello\r\n0\r\n\r\n", "5\r\nhello0\r\n\r\n",
            "5\r\nhello\n0\r\n\r\n", "5\r\nhello\r0\r\n\r\n", "5\r\nhelloo\r\n0\r\n\r\n", "4\r\nhello\r\n0\r\n\r\n",
            "5;a\nhello\r\n0\r\n\r\n", "5;a\u{0}\r\nhello\r\n0\r\n\r\n", "5;\(long(256))\r\nhello\r\n0\r\n\r\n",
            "\(String(repeating: "0", count: 257))5\r\nhello\r\n0\r\n\r\n", "10000000000000005\r\nhello\r\n0\r\n\r\n",
            "ffffffffffffffff\r\nhello\r\n0\r\n\r\n", "8000000000000005\r\nhello\r\n0\r\n\r\n", "0\r\n\n",
            "0\r\n A: b\r\n\r\n",
            "0\r\nA: b\r\n c\r\n\r\n", "0\r\nA : b\r\n\r\n", "0\r\nA\r\n\r\n", "0\r\nA: \u{0}\r\n\r\n",
            "0\r\nA: b\n\r\n",
            "0\r\n\rX",
        ].map { refused(400, chunked($0)) }
        + [
            refused(413, chunked("10001\r\n")), refused(413, chunked("1\r\nx\r\n10000\r\n")),
            refused(431, chunked("0\r\nA: \(long(17_000))")),
            // Trailer fields are dropped, including those that would change the framing (RFC 9110 §6.5.1).
            served(
                [200], chunked("5\r\nhello\r\n0\r\nContent-Length: 9\r\nTransfer-Encoding: gzip\r\nHost: b\r\n\r\n")),
            served([200], chunked("5;a=b;c=\"d e\"\r\nhello\r\n00\r\n\r\n")),
            served([200], chunked("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n")),
        ]

    /// RFC 9112 §5, RFC 9110 §5.
    private static let fields: [HTTPShape] =
        [
            get("A : b"), get(" A: b"), get("A: b\r\n c"), get("A: b\r\n\tc"), get(": b"), get("A"), get("A b: c"),
            get("A\u{0}: b"), get("A\u{7F}: b"), get("Ä: b"), get("A(: b"), get("A: \u{0}"), get("A: b\u{1}c"),
            get("A: \u{7F}"), get("A: b\nC: d"), get("A: b\rC: d"), get("A: b\r\r\n"), get("Host: a"), get("host: b"),
            "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nA: b\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\n", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        ].map { refused(400, $0) }
        + [
            "a b", "a, b", "a/b", "me@a", "a:x", "a:+80", "a:65536", ":80", "::1", "[::1", "[]", "[::g]", "[::1]a",
            "a%zz",
            "a\\b", "<a>",
        ].map { refused(400, "GET /now/1 HTTP/1.1\r\nHost: \($0)\r\n\r\n") }
        + [
            refused(431, get("A: \(long(17_000))")),
            refused(431, get(String(repeating: "A: b\r\n", count: 100) + "A: b")),
            served([200], "GET /now/1 HTTP/1.1\r\nhOST:[::1]:80\r\n\r\n"), served([200], get("A:")),
            served([200], get("A: ü")),
        ]

    /// RFC 9112 §3.2, RFC 3986.
    private static let targets: [HTTPShape] =
        [
            "/%", "/%4", "/%zz", "/%0", "/%00", "/a%00b", "/%C0%AF", "/%ED%A0%80", "/%E2%82", "/%F4%90%80%80", "/%FF",
            "/%E2/%82%AC", "/?a=%", "/?a=%zz", "/?a=%00", "/?a=%C0%80", "/?a=%ED%A0%80", "/?a=%E2%82", "/?%FF=a",
            "/?a=%C3&b=%A4", "/\u{0}", "/\u{1}", "/\u{7F}", "/ü", "/a#b", "a", "*", "a:80", "ftp://a/", "http:/a",
            "http://", "http:///a", "http://me@a/", "http://a:x/", "http://[::1/", "//\u{B}",
        ].map { refused(400, target($0)) }
        + [
            refused(400, "OPTIONS ** HTTP/1.1\r\nHost: a\r\n\r\n"),
            refused(400, "CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n"),
            refused(400, "CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n"), refused(414, target("/" + long(8192))),
            served([404], "CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"),
            served([204], "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"),
            served([200], target("http://b:81/now/1?x")), served([200], target("HTTPS://b/now/1")),
            served([200], "GET http://b/now/1 HTTP/1.1\r\nHost: a\r\n\r\n"),
            // `Host` is required even if the target contains the host.
            refused(400, "GET http://b/now/1 HTTP/1.1\r\n\r\n"), served([200], target("http://b")),
            served([200], target("/n%6Fw/%C3%A4%2F")), served([404], target("/now%2F1")),
            served([404], target("/../now/1")),
        ]

    /// RFC 9112 §2, §3.
    private static let requestLines: [HTTPShape] =
        [
            "GET\r\n\r\n", "GET /now/1\r\n\r\n", "GET  /now/1 HTTP/1.1\r\n", "GET /now/1  HTTP/1.1\r\n",
            "GET /now/1 HTTP/1.1 \r\n", "GET\t/now/1\tHTTP/1.1\r\n", " GET /now/1 HTTP/1.1\r\n",
            "GET /now/1 http/1.1\r\n",
            "GET /now/1 HTTP/1\r\n", "GET /now/1 HTTP/1.10\r\n", "GET /now/1 HTTP/+1.1\r\n", "GET /now/1 XTTP/1.1\r\n",
            "G(T /now/1 HTTP/1.1\r\n", "G\u{0}T /now/1 HTTP/1.1\r\n", "\r\n\r\nGET /now/1 HTTP/1.1\r\n",
            "\nGET /now/1 HTTP/1.1\r\n", "\rGET /now/1 HTTP/1.1\r\n", "GET /now/1 HTTP/1.1\rHost: a\r\n",
            "\u{16}\u{3}\u{1}",
            "PRI * HTTP/1.1\r\n",
        ].map { refused(400, $0) }
        + [
            refused(505, "GET /now/1 HTTP/2.0\r\n"), refused(505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
            refused(505, "GET /now/1 HTTP/0.9\r\n"), refused(501, "\(long(25)) / HTTP/1.1\r\n"),
            refused(501, "\(long(2000)) / HTTP/1.1\r\n"), refused(414, "\(long(20_000)) / HTTP/1.1\r\n"),
        ]

    private static let sound: [HTTPShape] = [
        served([200], "\r\nGET /now/1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        served([200], "GET /now/1 HTTP/1.2\r\nHost: a\r\n\r\n"),
        served([405], "get /now/1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        served([405], "BREW /now/1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        served([405], "TRACE /now/1 HTTP/1.1\r\nHost: a\r\n\r\n"),
        served([204], "OPTIONS /echo HTTP/1.1\r\nHost: a\r\n\r\n"),
        served([200], closing: true, "GET /now/1 HTTP/1.0\r\n\r\n"),
        served([200], closing: true, "GET /now/1 HTTP/1.0\r\nConnection: close, keep-alive\r\n\r\n"),
        served([200], "GET /now/1 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"),
        served([200], closing: true, get("Connection: close")),
        // The body is read although no handler exists, and isn't taken for a request.
        served([404], "POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 22\r\n\r\nGET /trap HTTP/1.1\r\n\r\n"),
        served(
            [405], "PUT /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\n\r\n"
        ),
        served([200], "GET /now/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 26\r\n\r\nGET /trap HTTP/1.1\r\n\r\n1234"),
        served([200, 200, 200], get("") + "GET /later/2 HTTP/1.1\r\nHost: a\r\n\r\n" + get("")),
        served([200, 400], closing: true, get("") + "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"),
        served(
            [200, 404, 405],
            "GET /later/1 HTTP/1.1\r\nHost: a\r\n\r\n" + target("/no") + "PUT / HTTP/1.1\r\nHost: a\r\n\r\n"),
    ]

    private static func upgrade(_ fields: String, line: String = "GET /socket HTTP/1.1") -> String {
        "\(line)\r\nHost: a\r\n\(fields)\r\n\r\n"
    }

    /// RFC 6455 §4.2.1, §4.4.
    private static let websockets: [HTTPShape] = {
        let (upgrade, connection) = ("Upgrade: websocket\r\n", "Connection: Upgrade\r\n")
        let (version, key) = ("Sec-WebSocket-Version: 13\r\n", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
        let bad = [
            upgrade + version + key, upgrade + "Connection: close-upgrade\r\n" + version + key,
            upgrade + connection + version + "A: b", upgrade + connection + version + "Sec-WebSocket-Key:",
            upgrade + connection + version + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ",
            upgrade + connection + version + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=",
            upgrade + connection + version + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZTE=",
            upgrade + connection + version + "Sec-WebSocket-Key: dGhlIHNhbXBsZ*Bub25jZQ==",
            upgrade + connection + version + key + "\r\n" + key, upgrade + connection + version + key + ", x",
            upgrade + connection + version + key + "\r\nSec-WebSocket-Extensions: a b",
            upgrade + connection + version + key + "\r\nSec-WebSocket-Extensions: permessage-deflate; x=\"a b\"",
        ]
        let old = [
            upgrade + connection + key, upgrade + connection + "Sec-WebSocket-Version: 8\r\n" + key,
            upgrade + connection + "Sec-WebSocket-Version: 13, 8\r\n" + key,
            upgrade + connection + version + version + key, connection + version + key,
            "Upgrade: h2c\r\n" + connection + version + key, "A: b",
        ]
        return bad.map { served([400], Self.upgrade($0)) } + old.map { served([426], Self.upgrade($0)) } + [
            served([400], Self.upgrade(upgrade + connection + version + key, line: "POST /socket HTTP/1.1")),
            served([400], Self.upgrade(upgrade + connection + version + key, line: "DELETE /socket HTTP/1.1")),
            served([400], Self.upgrade(upgrade + connection + version + key, line: "HEAD /socket HTTP/1.1")),
            served([405], Self.upgrade("A: b", line: "POST /socket HTTP/1.1")),
            served(
                [400], closing: true, Self.upgrade(upgrade + connection + version + key, line: "GET /socket HTTP/1.0")),
            served([400], Self.upgrade(upgrade + connection + version + key + "\r\nContent-Length: 5") + "hello"),
        ]
    }()
}
