// What content codings a client takes (RFC 9110 §12.5.3).
extension HTTPHeaders {
    /// Whether to send content compressed by gzip: the client takes it so, and wants it no less than plain.
    ///
    /// A request without `Accept-Encoding` would have to take anything; plain is what every such client reads.
    package var prefersGzip: Bool {
        // The last of several counts, as with repeated parameters elsewhere; senders have no reason for any.
        var (gzip, identity, any): (Int?, Int?, Int?)
        forEachListElement(of: "Accept-Encoding") { element in
            guard let (coding, weight) = Self.preference(element) else { return true }
            if coding.equalsIgnoringCase("gzip") || coding.equalsIgnoringCase("x-gzip") {
                gzip = weight
            } else if coding.equalsIgnoringCase("identity") {
                identity = weight
            } else if coding.elementsEqual("*".utf8) {
                any = weight
            }
            return true
        }
        guard let gzip = gzip ?? any, gzip > 0 else { return false }
        // Plain is acceptable unless it is ruled out, and then least of all.
        return gzip >= identity ?? 0
    }

    /// `gzip;q=0.8`: the coding, and its weight in thousandths. `nil` for what is no such element.
    private static func preference(
        _ element: UnsafeRawBufferPointer
    ) -> (coding: UnsafeRawBufferPointer, weight: Int)? {
        let semicolon = element.firstOffset(of: UInt8(ascii: ";")) ?? element.count
        let coding = element.part(element.trimmed(0..<semicolon))
        guard !coding.isEmpty else { return nil }
        guard semicolon < element.count else { return (coding, 1000) }
        let parameter = semicolon + 1..<element.count
        guard let equals = element.firstOffset(of: UInt8(ascii: "="), in: parameter),
            element.part(element.trimmed(parameter.lowerBound..<equals)).equalsIgnoringCase("q"),
            let weight = weight(element.part(element.trimmed(equals + 1..<element.count)))
        else { return nil }
        return (coding, weight)
    }

    /// `0`, `1`, and up to three digits behind the point (§12.4.2), in thousandths.
    private static func weight(_ text: UnsafeRawBufferPointer) -> Int? {
        guard (1...5).contains(text.count), text[0] == UInt8(ascii: "0") || text[0] == UInt8(ascii: "1"),
            text.count == 1 || text[1] == UInt8(ascii: ".")
        else { return nil }
        var weight = Int(text[0] - 0x30)
        for index in 2..<5 {
            let digit = index < text.count ? text[index] : 0x30
            guard ASCII.isDigit(digit) else { return nil }
            weight = weight * 10 + Int(digit - 0x30)
        }
        return weight <= 1000 ? weight : nil
    }
}
