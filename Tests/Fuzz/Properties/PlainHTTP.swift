/// A simple, independent parser of requests that the real one accepted: all bytes are in memory, and text is split at
/// line ends. It shows where a request ends, so that the test detects a byte that the two parsers count to different
/// requests.
struct PlainHTTP {
    /// A request that the parser shouldn't have taken, or one whose bytes end too early.
    enum Fault: Error {
        case malformed, cut
    }

    let requestLine: String
    let fields: [(name: String, value: String)]
    let headEnd: Int
    let body: [UInt8]
    let end: Int

    /// Parses the request that begins at `start`.
    init(_ bytes: [UInt8], from start: Int) throws(Fault) {
        var start = start
        if bytes[start...].starts(with: [13, 10]) { start += 2 }
        guard let headEnd = Self.end(of: [13, 10, 13, 10], in: bytes, from: start) else { throw .cut }
        self.headEnd = headEnd
        var lines = String(decoding: bytes[start..<headEnd - 4], as: Unicode.ASCII.self).unicodeScalars
            .split(separator: "\r", omittingEmptySubsequences: false)
            .map { String(String.UnicodeScalarView($0.first == "\n" ? $0.dropFirst() : $0)) }
        requestLine = lines.removeFirst()
        fields = lines.compactMap { line in
            guard let colon = line.unicodeScalars.firstIndex(of: ":") else { return nil }
            let value = line.unicodeScalars[line.unicodeScalars.index(after: colon)...]
                .drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
            return (line[..<colon].lowercased(), String(String.UnicodeScalarView(value)))
        }
        if fields.contains(where: { $0.name == "transfer-encoding" }) {
            (body, end) = try Self.chunks(bytes, from: headEnd)
        } else {
            let lengths = fields.filter { $0.name == "content-length" }.map(\.value)
            guard lengths.count < 2, lengths.allSatisfy({ $0.wholeMatch(of: /[0-9]+/) != nil }),
                let length = Int(lengths.first ?? "0")
            else { throw .malformed }
            guard bytes.count - headEnd >= length else { throw .cut }
            body = Array(bytes[headEnd..<headEnd + length])
            end = headEnd + length
        }
    }

    private static func chunks(_ bytes: [UInt8], from start: Int) throws(Fault) -> (body: [UInt8], end: Int) {
        var body: [UInt8] = []
        var position = start
        while let lineEnd = end(of: [13, 10], in: bytes, from: position) {
            let line = String(decoding: bytes[position..<lineEnd - 2], as: Unicode.ASCII.self)
            guard let digits = line.split(separator: ";", omittingEmptySubsequences: false).first,
                digits.wholeMatch(of: /[0-9A-Fa-f]+/) != nil, let size = Int(digits, radix: 16)
            else { throw .malformed }
            position = lineEnd
            if size == 0 {
                // Trailer fields, then an empty line.
                while let trailerEnd = end(of: [13, 10], in: bytes, from: position) {
                    if trailerEnd - position == 2 { return (body, trailerEnd) }
                    guard bytes[position..<trailerEnd].contains(UInt8(ascii: ":")) else { throw .malformed }
                    position = trailerEnd
                }
                throw .cut
            }
            guard size < bytes.count - position else { throw .cut }
            body += bytes[position..<position + size]
            let behind = bytes[(position + size)...].prefix(2)
            guard [13, 10].starts(with: behind) else { throw .malformed }
            guard behind.count == 2 else { throw .cut }
            position += size + 2
        }
        throw .cut
    }

    /// Returns the offset after the first occurrence of `mark`.
    private static func end(of mark: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        var position = start
        while position + mark.count <= bytes.count {
            if bytes[position...].starts(with: mark) { return position + mark.count }
            position += 1
        }
        return nil
    }
}
