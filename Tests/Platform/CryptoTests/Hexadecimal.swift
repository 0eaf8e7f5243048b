/// Returns the bytes of hexadecimal digits.
func bytes(_ hexadecimal: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = hexadecimal.filter { !$0.isWhitespace }[...]
    while let byte = UInt8(rest.prefix(2), radix: 16) {
        bytes.append(byte)
        rest = rest.dropFirst(2)
    }
    return bytes
}
