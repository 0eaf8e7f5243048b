// The content codings that a client accepts (RFC 9110 §12.5.3).
extension HTTPHeaders {
    /// Whether to compress content with gzip. This is the case if the client accepts gzip and doesn't prefer plain
    /// content.
    ///
    /// A request without `Accept-Encoding` permits every coding. Plain content is used then, because every client can
    /// read it.
    package var prefersGzip: Bool {
        // If a coding occurs several times, the last element counts. Clients have no reason to repeat one.
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
        // Unless it is excluded, plain content is acceptable with the lowest preference.
        return gzip >= identity ?? 0
    }

    /// Parses an element such as `gzip;q=0.8`: the coding, and its weight in thousandths. Returns `nil` if the element
    /// is invalid.
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

    /// Parses a weight in thousandths: `0`, `1`, or a number with up to three decimal digits (§12.4.2).
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
