import Glibc

/// The keywords for `PQconnectStartParams`. A later keyword overrides an earlier one. Settings that the operator may
/// change are therefore before the connection string, and fixed settings after it.
struct ConnectionKeywords {
    let pairs: [(keyword: String, value: String)]

    init(_ configuration: PostgresConfiguration) {
        pairs = [
            // With these settings, a lost peer is noticed within 25 s on an idle connection, and within 15 s if an
            // acknowledgement is missing.
            ("keepalives", "1"),
            ("keepalives_idle", "10"),
            ("keepalives_interval", "5"),
            ("keepalives_count", "3"),
            ("tcp_user_timeout", "15000"),
            ("fallback_application_name", configuration.applicationName),
            ("dbname", configuration.conninfo),
            ("client_encoding", "UTF8"),
        ]
    }

    /// Calls `body` with NULL-terminated arrays of keywords and values. The arrays are valid only during the call.
    func withArrays<R>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> R
    ) -> R {
        let keywords = pairs.map { strdup($0.keyword) }
        let values = pairs.map { strdup($0.value) }
        defer { for copy in keywords + values { free(copy) } }
        let keywordArray = keywords.map { $0.map { UnsafePointer($0) } } + [nil]
        let valueArray = values.map { $0.map { UnsafePointer($0) } } + [nil]
        return keywordArray.withUnsafeBufferPointer { keywords in
            valueArray.withUnsafeBufferPointer { values in
                // The arrays are never empty, so they have a base address.
                guard let keywords = keywords.baseAddress, let values = values.baseAddress else {
                    return body([nil], [nil])
                }
                return body(keywords, values)
            }
        }
    }
}
