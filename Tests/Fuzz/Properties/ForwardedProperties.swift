import Wire

/// `X-Forwarded-For`: the address is the one that a simple parser finds, and never one to the left of an untrusted
/// address.
enum ForwardedProperties {
    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        var trusted = TrustedNetworks.thisMachine
        if input.option(0) { trusted.insert("10.0.0.0/8") }
        if input.option(1) { trusted.insert("2001:db8::/32") }
        // A line feed begins another field. Bytes that a field's value can't contain are removed.
        let values = input.content.split(separator: 10, omittingEmptySubsequences: false).prefix(16).map { line in
            String(decoding: line.filter { $0 >= 0x20 && $0 < 0x7F || $0 == 9 }, as: UTF8.self)
        }
        let fields = values.map { "X-Forwarded-For: \($0)\r\n" }.joined()
        let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\nX-Other: 192.0.2.77\r\n\(fields)\r\n".utf8)
        let reading = HTTPReading([bytes], limits: HTTPLimits())
        guard let head = reading.heads.first else { throw BrokenProperty("no head: \(reading)") }
        let found = head.forwardedAddress(through: trusted)
        let plain = plainAddress(values, trusted)
        try require(
            found == plain, "\(String(describing: found)), where a plain reading finds \(String(describing: plain))")
        // If a proxy names a client, entries that the client has put before change nothing.
        if let found, !trusted.contains(found) {
            let forged = Array(
                "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 198.51.100.1, ::1\r\n\(fields)\r\n".utf8)
            let again = HTTPReading([forged], limits: HTTPLimits()).heads.first?.forwardedAddress(through: trusted)
            try require(again == found, "forged: \(String(describing: again)), not \(found)")
        }
    }

    private static func plainAddress(_ values: [String], _ trusted: TrustedNetworks) -> IPAddress? {
        var found: IPAddress?
        for element in values.joined(separator: ",").split(separator: ",").reversed() {
            let blank: Set<Character> = [" ", "\t"]
            let text = String(
                String(element.drop(while: blank.contains)).reversed().drop(while: blank.contains).reversed())
            if text.isEmpty { continue }
            guard let address = IPAddress(withoutPort(text)) else { return found }
            found = address
            if !trusted.contains(address) { return found }
        }
        return found
    }

    /// Removes the port of `[address]:port` and of `address:port` without colons in the address. Removes brackets.
    /// Returns other texts unchanged.
    private static func withoutPort(_ text: String) -> String {
        if let match = text.wholeMatch(of: /\[([^\]]*:[^\]]*)\](:[0-9]{1,5})?/) { return String(match.1) }
        if let match = text.wholeMatch(of: /([^:]*):[0-9]{1,5}/) { return String(match.1) }
        return text
    }
}
