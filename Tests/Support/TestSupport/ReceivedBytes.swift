/// Bytes that were received and not taken yet. Taking n bytes is O(n). Taken bytes are removed now and then.
struct ReceivedBytes {
    private var storage: [UInt8] = []
    private var start = 0

    var count: Int { storage.count - start }

    mutating func append(_ bytes: some Collection<UInt8>) {
        storage.append(contentsOf: bytes)
    }

    mutating func take(_ count: Int) -> [UInt8] {
        let taken = Array(storage[start..<start + count])
        start += count
        if start == storage.count {
            storage.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 65_536 {
            storage.removeFirst(start)
            start = 0
        }
        return taken
    }

    /// Returns the number of bytes up to and including the first `delimiter`. Bytes before `offset` aren't searched.
    func length(through delimiter: [UInt8], searchingFrom offset: Int) -> Int? {
        var index = start + max(0, offset - delimiter.count + 1)
        while index + delimiter.count <= storage.count {
            if storage[index..<index + delimiter.count].elementsEqual(delimiter) {
                return index + delimiter.count - start
            }
            index += 1
        }
        return nil
    }

    /// The first bytes, as a failure's message shows them.
    var preview: String { Self.preview(storage[start...]) }

    static func preview(_ bytes: some Collection<UInt8>) -> String {
        guard !bytes.isEmpty else { return "nothing" }
        let shown = bytes.prefix(200).map { byte in
            switch byte {
            case 0x0A: "\\n"
            case 0x0D: "\\r"
            case 0x20...0x7E: String(UnicodeScalar(byte))
            default: "\\x" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            }
        }
        return "\(bytes.count) bytes, \"\(shown.joined())\(bytes.count > 200 ? "…" : "")\""
    }
}
