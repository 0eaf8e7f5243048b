import Wire

/// The request parser: it reads the same for every splitting, keeps its limits, and counts each byte to one request
/// only.
enum HTTPProperties {
    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        let limits =
            input.option(0)
            ? HTTPLimits(headBytes: 120, targetBytes: 30, fields: 4, bodyBytes: 16, chunkLineBytes: 12) : HTTPLimits()
        let readings = input.arrivals.map { HTTPReading($0, limits: limits) }
        let reading = readings[0]
        for other in readings.dropFirst() {
            try require(other == reading, "another split is read otherwise: \(reading) \(other)")
        }
        try checkBoundaries(reading, input.content)
        for (request, head) in zip(reading.requests, reading.heads) {
            try checkLimits(request, head, limits)
            try checkHead(head)
            if request.end != nil { try checkRewritten(request, head, limits) }
        }
    }

    /// Each request begins where the previous one ended. A simple parser finds the same line, fields, body and end.
    private static func checkBoundaries(_ reading: HTTPReading, _ bytes: [UInt8]) throws(BrokenProperty) {
        var start = 0
        for (request, head) in zip(reading.requests, reading.heads) {
            try require(request.headEnd > start, "a head without bytes of its own")
            let plain: PlainHTTP
            do throws(PlainHTTP.Fault) {
                plain = try PlainHTTP(bytes, from: start)
            } catch {
                // Input that the parser refuses later may already be malformed for the simple one.
                let isExpected = request.end == nil && (error == .cut || reading.error != nil)
                try require(isExpected, "a plain reading finds it \(error): \(request)")
                return
            }
            guard let end = request.end else {
                // The simple parser accepts trailer fields that the real one refuses.
                try require(reading.error != nil, "a plain reading finds its end at \(plain.end): \(request)")
                return
            }
            try require(plain.headEnd == request.headEnd, "the head ends at \(plain.headEnd): \(request)")
            try require(plain.end == end && plain.body == request.body, "the body ends at \(plain.end): \(request)")
            try require(
                plain.requestLine.hasPrefix("\(head.method.name) \(head.target) HTTP/1."),
                "the request line is \(plain.requestLine): \(request)")
            try require(
                plain.fields.map(\.name) == head.headers.map { $0.name.lowercased() }, "other fields: \(request)")
            start = end
        }
    }

    private static func checkLimits(
        _ request: HTTPReading.Request, _ head: HTTPRequestHead, _ limits: HTTPLimits
    ) throws(BrokenProperty) {
        try require(head.target.utf8.count <= limits.targetBytes, "the target is too long")
        try require(head.headers.count <= limits.fields, "too many fields")
        try require(request.body.count <= limits.bodyBytes, "the body is too long")
        let bytes = head.headers.reduce(head.target.utf8.count) { $0 + $1.name.utf8.count + 3 }
        try require(bytes <= limits.headBytes, "the head is too long")
    }

    /// Checks the properties of a request's head that other code relies on.
    private static func checkHead(_ head: HTTPRequestHead) throws(BrokenProperty) {
        try require(head.host != nil || head.version == .http10, "no host")
        try require(head.host?.isEmpty != true && head.host?.contains("@") != true, "a host that is none")
        var hosts = AllowedHosts()
        hosts.insert("a")
        try require(hosts.admit(head) == (head.host.map(isServed) ?? true), "a host: \(head.host ?? "")")
        for (name, value) in head.headers {
            try require(
                !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }, "a name: \(name)")
            let isText = value.utf8.allSatisfy { ($0 >= 0x20 || $0 == 9) && $0 != 0x7F }
            try require(isText, "a value: \(value.debugDescription)")
        }
        try require(head.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a target: \(head.target)")
        for segment in head.pathSegments(atMost: .max) ?? [] {
            try require(!segment.utf8.contains(0) && !segment.contains("\u{FFFD}"), "a segment: \(segment)")
        }
        let items = head.queryItems
        for item in items {
            try require(!item.name.utf8.contains(0) && !item.value.utf8.contains(0), "a query: \(item)")
            // Compares byte for byte. Swift's strings are equal if they are canonically equivalent.
            let first = items.first { $0.name.utf8.elementsEqual(item.name.utf8) }
            try require(
                head.query(item.name) == first?.value, "query(\(item.name)) is not \(String(describing: first))")
        }
    }

    /// Whether a server for the host name `a` and all addresses serves this host, by the simplest implementation.
    private static func isServed(_ authority: String) -> Bool {
        guard !authority.hasPrefix("[") else { return true }
        var name = authority.lowercased().prefix { $0 != ":" }
        if name.hasSuffix(".") { name.removeLast() }
        return name == "a" || !name.isEmpty && name.allSatisfy { "0123456789.".contains($0) }
    }

    /// A request that was read is the same after it is written and read again.
    private static func checkRewritten(
        _ request: HTTPReading.Request, _ head: HTTPRequestHead, _ limits: HTTPLimits
    ) throws(BrokenProperty) {
        // Values that aren't UTF-8 are read with U+FFFD, which is longer.
        guard head.headers.allSatisfy({ !$0.value.contains("\u{FFFD}") }) else { return }
        var bytes = Array("\(head.method.name) \(head.target) HTTP/1.\(head.version == .http10 ? 0 : 1)\r\n".utf8)
        for (name, value) in head.headers {
            HTTPResponseEncoder.field(named: name, value, into: &bytes)
        }
        HTTPResponseEncoder.endOfHead(into: &bytes)
        if head.bodyFraming == .chunked {
            HTTPResponseEncoder.chunk(request.body, into: &bytes)
            HTTPResponseEncoder.lastChunk(into: &bytes)
        } else {
            bytes += request.body
        }
        // The encoder writes a space after each colon, so the head may become longer than its limit.
        let room = HTTPLimits(
            headBytes: limits.headBytes + head.headers.count, targetBytes: limits.targetBytes, fields: limits.fields,
            bodyBytes: limits.bodyBytes, chunkLineBytes: limits.chunkLineBytes)
        let again = HTTPReading([bytes], limits: room)
        try require(again.error == nil && again.isIdle, "written anew, it is refused: \(request) \(again)")
        try require(
            again.requests.map(\.head) == [request.head] && again.requests.map(\.body) == [request.body],
            "written anew, it is another: \(request) \(again)")
    }
}
