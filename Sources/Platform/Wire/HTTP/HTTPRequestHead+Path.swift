// The path (RFC 3986 §3.3). Escapes are decoded after it is split, so `%2F` in a segment doesn't split it; dot segments are
// ordinary segments, since no path here leads into a file system.
extension HTTPRequestHead {
    /// The path as it was sent, escapes and all, without the query; `/` when an absolute target has none, and empty for `*`
    /// and CONNECT. For logging.
    package var rawPath: String {
        pathRange.isEmpty && targetForm == .absolute ? "/" : text(pathRange)
    }

    /// Whether the path, decoded, is `path`: `/task`. Allocates nothing.
    package func path(equals path: StaticString) -> Bool {
        self.path(equals: UnsafeRawBufferPointer(path))
    }

    /// Whether the path, decoded, is `path`. Allocates nothing.
    package func path(equals path: [UInt8]) -> Bool {
        path.withUnsafeBytes { self.path(equals: $0) }
    }

    /// The path's segments, decoded: `/task/a%2Fb` is `["task", "a/b"]`, `/` is `[]`, `/task/` is `["task", ""]`.
    /// Made anew at each call.
    ///
    /// - Parameter limit: `nil` when there are more, of which none is looked at: a path of slashes has thousands.
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
            // An escape takes more bytes than what it stands for.
            if own.count <= path.count { return own.equals(path) && !own.contains(UInt8(ascii: "%")) }
            return PercentEncoding.equals(own, path)
        }
    }
}
