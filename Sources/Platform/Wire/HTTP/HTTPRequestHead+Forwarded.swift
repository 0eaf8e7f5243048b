extension HTTPRequestHead {
    /// Returns the client's address from `X-Forwarded-For`, if trusted proxies forwarded the request.
    ///
    /// Each proxy appends the address of its own peer. The list is therefore read from the right, as long as the
    /// addresses are those of trusted proxies. The first other address is the client's. The client may have made up all
    /// addresses to the left of it.
    ///
    /// ```
    ///     X-Forwarded-For: 192.0.2.9, 203.0.113.7, 10.0.0.2        from 10.0.0.1; 10.0.0.0/8 is trusted
    ///                      made up    the client   a proxy
    /// ```
    ///
    /// - Returns: The client's address. `nil` if there is no such field, or if its last element isn't an address: a
    ///   proxy may write `unknown`.
    package func forwardedAddress(through trusted: TrustedNetworks) -> IPAddress? {
        bytes.withUnsafeBytes { bytes in
            var found: IPAddress?
            for field in fields.reversed()
            where bytes.part(field.name.range).equalsIgnoringCase("X-Forwarded-For") {
                var end = field.value.range.upperBound
                while end > field.value.range.lowerBound {
                    var start = end
                    while start > field.value.range.lowerBound, bytes[start - 1] != UInt8(ascii: ",") { start -= 1 }
                    let element = bytes.part(bytes.trimmed(start..<end))
                    end = start - 1
                    guard !element.isEmpty else { continue }
                    guard let address = Self.address(inElement: element) else { return found }
                    found = address
                    guard trusted.contains(address) else { return address }
                }
            }
            return found
        }
    }

    /// Parses an address such as `192.0.2.1` or `2001:db8::1`. Some proxies append a port: `192.0.2.1:80`,
    /// `[2001:db8::1]:80`.
    private static func address(inElement bytes: UnsafeRawBufferPointer) -> IPAddress? {
        var host = bytes
        if bytes.first == UInt8(ascii: "[") {
            guard let close = bytes.firstOffset(of: UInt8(ascii: "]")),
                close + 1 == bytes.count || isPort(bytes.part(close + 1..<bytes.count))
            else { return nil }
            host = bytes.part(1..<close)
            guard host.contains(UInt8(ascii: ":")) else { return nil }
        } else if let colon = bytes.firstOffset(of: UInt8(ascii: ":")), isPort(bytes.part(colon..<bytes.count)) {
            host = bytes.part(0..<colon)
        }
        return IPAddress(String(decoding: host, as: UTF8.self))
    }

    private static func isPort(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.first == UInt8(ascii: ":") && (2...6).contains(bytes.count) && bytes.dropFirst().allSatisfy(ASCII.isDigit)
    }
}
