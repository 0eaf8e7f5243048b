import Wire

/// The client parser's result for a response, in a form that can be compared.
struct ResponseReading: Equatable {
    private(set) var heads: [HTTPResponseHead] = []
    private(set) var body: [UInt8] = []
    private(set) var isWhole = false
    /// The bytes after the response. They belong to the protocol of the upgrade.
    private(set) var rest: [UInt8] = []
    private(set) var error: HTTPResponseError?

    /// How much of an invalid body is delivered before the error depends on how the bytes are split.
    static func == (one: ResponseReading, other: ResponseReading) -> Bool {
        guard one.error == nil, other.error == nil else { return one.error == other.error && one.heads == other.heads }
        return one.heads == other.heads && one.body == other.body && one.isWhole == other.isWhole
            && one.rest == other.rest
    }

    /// - Parameter ends: Whether the connection ends after the bytes.
    init(_ pieces: [[UInt8]], limits: HTTPLimits, ends: Bool) {
        var parser = HTTPResponseParser(limits: limits)
        for piece in pieces where error == nil {
            withExactMemory(piece) { memory in
                var input = UnsafeRawBufferPointer(memory)
                do throws(HTTPResponseError) {
                    while let event = try parser.next(&input) { take(event) }
                    rest += Array(input)
                } catch {
                    self.error = error
                }
            }
        }
        guard ends, error == nil else { return }
        do throws(HTTPResponseError) {
            try parser.inputEnded()
            isWhole = true
        } catch {
            self.error = error
        }
    }

    private mutating func take(_ event: HTTPResponseEvent) {
        switch event {
        case .head(let head): heads.append(head)
        case .body(let bytes): body += Array(bytes)
        case .end: isWhole = true
        }
    }
}
