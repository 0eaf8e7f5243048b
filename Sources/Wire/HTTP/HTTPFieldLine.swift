/// A header line taken apart: where its name and its value lie in the head.
struct HTTPFieldLine: Sendable, Equatable {
    let name: ByteRange
    let value: ByteRange

    /// `field-name ":" OWS field-value OWS` (RFC 9112 §5): no folding, no white space before the colon.
    init(_ bytes: UnsafeRawBufferPointer, in line: Range<Int>) throws(HTTPParseError) {
        guard let first = line.first.map({ bytes[$0] }) else { throw .badFieldName }
        guard first != ASCII.space, first != ASCII.tab else { throw .foldedLine }
        guard let colon = bytes.firstOffset(of: UInt8(ascii: ":"), in: line), colon > line.lowerBound else {
            throw .badFieldName
        }
        guard bytes[colon - 1] != ASCII.space, bytes[colon - 1] != ASCII.tab else { throw .spaceBeforeColon }
        guard bytes.part(line.lowerBound..<colon).areTokenBytes else { throw .badFieldName }
        let valueRange = bytes.trimmed(colon + 1..<line.upperBound)
        guard bytes.part(valueRange).areFieldValueBytes else { throw .badFieldValue }
        name = ByteRange(line.lowerBound..<colon)
        value = ByteRange(valueRange)
    }
}
