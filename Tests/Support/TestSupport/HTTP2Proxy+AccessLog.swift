extension HTTP2Proxy {
    /// The arguments that make nghttpx write the log for ``requests``, with Apple's number of streams.
    package static let accessLog = [
        "--accesslog-file=/dev/stdout", "--accesslog-format=$alpn $remote_port $status",
        "--frontend-http2-max-concurrent-streams=1000",
    ]

    /// The newest answered requests: the protocol by its ALPN name (`h2`), the client's port, and the status.
    package var requests: [(protocol: String, port: String, status: String)] {
        process.lines.all.compactMap { line in
            let words = line.text.split(separator: " ").map(String.init)
            return words.count == 3 && UInt16(words[1]) != nil ? (words[0], words[1], words[2]) : nil
        }
    }
}
