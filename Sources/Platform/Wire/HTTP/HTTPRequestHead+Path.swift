// The path (RFC 3986 §3.3). The path is split into segments before escapes are decoded, so `%2F` doesn't split a
// segment. Dot segments have no special meaning, because no path refers to a file system.
extension HTTPRequestHead {
    /// The path as it was sent, with its escapes and without the query, for logs. It is `/` if an absolute target has
    /// no path, and empty for `*` and CONNECT.
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

    /// Returns the decoded segments: `/task/a%2Fb` is `["task", "a/b"]`, `/` is `[]`, and `/task/` is `["task", ""]`.
    /// They are computed at each call.
    ///
    /// - Parameter limit: The maximum number of segments. If there are more, the method returns `nil` without reading
    ///   them. A path of slashes may have thousands.
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
            // Decoding an escape makes a path shorter. A path that isn't longer than `path` can therefore be equal only
            // byte for byte.
            if own.count <= path.count { return own.equals(path) && !own.contains(UInt8(ascii: "%")) }
            return PercentEncoding.equals(own, path)
        }
    }
}
