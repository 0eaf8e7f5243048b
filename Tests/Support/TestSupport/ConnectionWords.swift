/// The keywords of a test database's connection string: `host`, `port`, `user`, `dbname`, …
package struct ConnectionWords: Sendable {
    private let values: [Substring: String]

    package init(_ conninfo: String) {
        let words = conninfo.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1) }
        // A later word replaces an earlier one, as for libpq.
        values = Dictionary(words.filter { $0.count == 2 }.map { ($0[0], $0[1].filter { $0 != "'" }) }) { $1 }
    }

    package func value(_ keyword: Substring) throws(ClientFailure) -> String {
        guard let value = values[keyword] else { throw .misuse("no \(keyword) in the connection string") }
        return value
    }

    /// The server's Unix socket.
    package func socket() throws(ClientFailure) -> ClientEndpoint {
        .unix(path: "\(try value("host"))/.s.PGSQL.\(try value("port"))")
    }

    /// The connection string of the same database through a relay on 127.0.0.1.
    package func conninfo(through port: UInt16) throws(ClientFailure) -> String {
        """
        host=127.0.0.1 port=\(port) user=\(try value("user")) dbname=\(try value("dbname")) \
        sslmode=disable gssencmode=disable
        """
    }
}
