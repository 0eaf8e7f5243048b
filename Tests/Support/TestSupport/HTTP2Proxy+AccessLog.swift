extension HTTP2Proxy {
    /// Arguments for ``requests``, with as many streams as Apple allows.
    package static let accessLog = [
        "--accesslog-file=/dev/stdout", "--accesslog-format=$alpn $remote_port $status",
        "--frontend-http2-max-concurrent-streams=1000",
    ]

    /// The newest requests that were answered: protocol by its name in ALPN (`h2`), the client's port, status.
    package var requests: [(protocol: String, port: String, status: String)] {
        process.lines.all.compactMap { line in
            let words = line.text.split(separator: " ").map(String.init)
            return words.count == 3 && UInt16(words[1]) != nil ? (words[0], words[1], words[2]) : nil
        }
    }
}
