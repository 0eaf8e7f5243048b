/// Parses a response's head strictly (RFC 9112 §2–5). Errors that a lenient client would accept fail the test.
enum ResponseHeadParser {
    /// Parses `bytes`, which end with the empty line.
    static func parse(_ bytes: [UInt8]) throws(ClientFailure) -> TestResponse {
        func wrong(_ what: String) -> ClientFailure { .violation("\(what) in \(ReceivedBytes.preview(bytes))") }

        guard let text = String(validating: bytes, as: UTF8.self) else { throw wrong("invalid UTF-8") }
        for byte in bytes where (byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D) || byte == 0x7F {
            throw wrong("control byte")
        }
        // Swift treats CR LF as one Character, so a bare CR or LF stays inside its line and is detected there.
        var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard lines.count >= 3, lines.suffix(2).allSatisfy(\.isEmpty) else { throw wrong("no empty line at the end") }
        lines.removeLast(2)
        guard !lines.contains(where: { $0.contains("\r") || $0.contains("\n") }) else { throw wrong("bare CR or LF") }

        let statusLine = lines.removeFirst().split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard statusLine.count == 3 else { throw wrong("malformed status line (RFC 9112 §4)") }
        let version = String(statusLine[0])
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else { throw wrong("version \(version)") }
        guard statusLine[1].utf8.count == 3, let status = Int(statusLine[1]), (100...599).contains(status) else {
            throw wrong("status \(statusLine[1])")
        }

        var headers: TestHeaders = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { throw wrong("field without a colon") }
            let name = line[..<colon]
            guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else { throw wrong("field name \"\(name)\"") }
            headers.append(String(name), String(line[line.index(after: colon)...].trimmed))
        }
        let response = TestResponse(
            status: status, reason: String(statusLine[2]), version: version, headers: headers)
        try checkFraming(of: response)
        return response
    }

    /// Checks the combinations that a server must not send (RFC 9110 §8.6, RFC 9112 §6.1–6.3).
    private static func checkFraming(of response: TestResponse) throws(ClientFailure) {
        let lengths = response.headers.values(of: "Content-Length")
        let codings = response.headers.values(of: "Transfer-Encoding")
        guard lengths.count <= 1, codings.count <= 1, lengths.isEmpty || codings.isEmpty else {
            throw .violation("Content-Length \(lengths) with Transfer-Encoding \(codings)")
        }
        if let length = lengths.first {
            guard !length.isEmpty, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), Int(length) != nil else {
                throw .violation("Content-Length \"\(length)\"")
            }
        }
        if let coding = codings.first, coding.lowercased() != "chunked" {
            throw .violation("Transfer-Encoding \"\(coding)\"")
        }
        if response.status < 200 || response.status == 204 {
            guard lengths.isEmpty, codings.isEmpty else {
                throw .violation("a \(response.status) with Content-Length or Transfer-Encoding (RFC 9110 §8.6)")
            }
        }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
