// The query, parsed like a form (WHATWG URL §5.1): `name=value` pairs between ampersands. A `+` means a space, and
// escapes are decoded after the split. The head's parser has already checked the escapes.
extension HTTPRequestHead {
    /// All pairs in order. `a=1&&b` has the pairs `a` with `1`, and `b` with an empty value. The pairs are computed at
    /// each call.
    package var queryItems: [(name: String, value: String)] {
        var items: [(name: String, value: String)] = []
        withQueryItems { name, value in
            items.append(
                (PercentEncoding.decode(name, plusIsSpace: true), PercentEncoding.decode(value, plusIsSpace: true)))
            return true
        }
        return items
    }

    /// Returns the decoded value of the first pair with this name. Only the value is allocated.
    package func query(_ name: String) -> String? {
        var found: String?
        var name = name
        name.withUTF8 { name in
            withQueryItems { itemName, value in
                guard PercentEncoding.equals(itemName, UnsafeRawBufferPointer(name), plusIsSpace: true) else {
                    return true
                }
                found = PercentEncoding.decode(value, plusIsSpace: true)
                return false
            }
        }
        return found
    }

    /// Calls `body` with the decoded value of the first pair with this name, if there is one. No string is made.
    package func withQueryValue(_ name: StaticString, _ body: (UnsafeRawBufferPointer) -> Void) {
        withQueryItems { itemName, value in
            guard PercentEncoding.equals(itemName, UnsafeRawBufferPointer(name), plusIsSpace: true) else { return true }
            if PercentEncoding.isPlain(value, plusIsSpace: true) {
                body(value)
            } else {
                var text = PercentEncoding.decode(value, plusIsSpace: true)
                text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
            }
            return false
        }
    }

    /// Calls `body` with each pair, not decoded, until it returns `false`.
    private func withQueryItems(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool) {
        guard let queryRange else { return }
        bytes.withUnsafeBytes { bytes in
            let query = bytes.part(queryRange.range)
            var start = 0
            while start < query.count {
                let end = query.firstOffset(of: UInt8(ascii: "&"), in: start..<query.count) ?? query.count
                if start < end {
                    let equals = query.firstOffset(of: UInt8(ascii: "="), in: start..<end)
                    let name = query.part(start..<(equals ?? end))
                    let value = query.part((equals.map { $0 + 1 } ?? end)..<end)
                    guard body(name, value) else { return }
                }
                start = end + 1
            }
        }
    }
}
