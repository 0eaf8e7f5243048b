// The path (RFC 3986 §3.3). Escapes are decoded after the path is split, so `%2F` doesn't split a segment. Dot segments
// are ordinary segments, because no path leads into a file system.
extension HTTPRequestHead {
    /// The path as it was sent, with escapes and without the query. `/` if an absolute target has none; empty for `*`
    /// and CONNECT. For logging.
    package var rawPath: String {
        pathRange.isEmpty && targetForm == .absolute ? "/" : text(pathRange)
    }

    /// Whether the decoded path equals `path`, such as `/task`. Allocates nothing.
    package func path(equals path: StaticString) -> Bool {
        self.path(equals: UnsafeRawBufferPointer(path))
    }

    /// Whether the decoded path equals `path`. Allocates nothing.
    package func path(equals path: [UInt8]) -> Bool {
        path.withUnsafeBytes { self.path(equals: $0) }
    }

    /// Returns the decoded segments: `/task/a%2Fb` is `["task", "a/b"]`, `/` is `[]`, `/task/` is `["task", ""]`.
    /// Computed at each call.
    ///
    /// - Parameter limit: Returns `nil` if there are more segments, without reading them: a path of slashes has
    ///   thousands.
    package func pathSegments(atMost limit: Int) -> [String]? {
        bytes.withUnsafeBytes { bytes in
            let path = bytes.part(pathRange.range)
            guard path.count > 1 else { return [] }
            var segments: [String] = []
            var start = 1
            while start <= path.count {
                guard segments.count < limit else { return nil }
                let end = path.firstOffset(of: UInt8(ascii: "/"), in: start..<path.count) ?? path.count
                segments.append(PercentEncoding.decode(path.part(start..<end)))
                start = end + 1
            }
            return segments
        }
    }

    private func path(equals path: UnsafeRawBufferPointer) -> Bool {
        bytes.withUnsafeBytes { bytes in
            if pathRange.isEmpty {
                return targetForm == .absolute && path.equals(UnsafeRawBufferPointer("/"))
            }
            let own = bytes.part(pathRange.range)
            // Escapes only make a path longer, so a path that isn't longer must be equal byte for byte.
            if own.count <= path.count { return own.equals(path) && !own.contains(UInt8(ascii: "%")) }
            return PercentEncoding.equals(own, path)
        }
    }
}
