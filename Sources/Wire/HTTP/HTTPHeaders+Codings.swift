// What content codings a client takes (RFC 9110 §12.5.3).
extension HTTPHeaders {
    /// Whether to send content compressed by gzip: the client takes it so, and wants it no less than plain.
    ///
    /// A request without `Accept-Encoding` would have to take anything; plain is what every such client reads.
    package var prefersGzip: Bool {
        let preferences = values("Accept-Encoding").flatMap { $0.split(separator: ",") }.compactMap(Self.preference)
        func weight(of codings: String...) -> Int? {
            // The last of several counts, as with repeated parameters elsewhere; senders have no reason for any.
            preferences.last { codings.contains($0.coding) }?.weight
        }
        guard let gzip = weight(of: "gzip", "x-gzip") ?? weight(of: "*"), gzip > 0 else { return false }
        // Plain is acceptable unless it is ruled out, and then least of all.
        return gzip >= weight(of: "identity") ?? 0
    }

    /// `gzip;q=0.8`: the coding in small letters, and its weight in thousandths. `nil` for what is no such element.
    private static func preference(_ element: Substring) -> (coding: String, weight: Int)? {
        let parts = element.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false).map(\.withoutBlanks)
        let coding = parts[0].lowercased()
        guard !coding.isEmpty else { return nil }
        guard parts.count == 2 else { return (coding, 1000) }
        let parameter = parts[1].split(separator: "=", maxSplits: 1).map(\.withoutBlanks)
        guard parameter.count == 2, parameter[0].lowercased() == "q", let weight = weight(parameter[1]) else {
            return nil
        }
        return (coding, weight)
    }

    /// `0`, `1`, and up to three digits behind the point (§12.4.2), in thousandths.
    private static func weight(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts[0] == "0" || parts[0] == "1" else { return nil }
        let fraction = parts.count == 2 ? parts[1].utf8 : Substring().utf8
        guard fraction.count <= 3, fraction.allSatisfy(ASCII.isDigit) else { return nil }
        var weight = parts[0] == "1" ? 1 : 0
        for digit in fraction { weight = weight * 10 + Int(digit - 0x30) }
        for _ in fraction.count..<3 { weight *= 10 }
        return weight <= 1000 ? weight : nil
    }
}

extension Substring {
    /// Without the optional white space at both ends (RFC 9110 §5.6.3).
    fileprivate var withoutBlanks: Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let head = drop(while: isBlank)
        return head.lastIndex { !isBlank($0) }.map { head[...$0] } ?? ""
    }
}
