import Glibc

/// What `PQconnectStartParams` is told: a later keyword overrides an earlier one, so what the operator may change comes
/// before the connection string, and what must hold after it.
struct ConnectionKeywords {
    let pairs: [(keyword: String, value: String)]

    init(_ configuration: PostgresConfiguration) {
        pairs = [
            // A peer that vanishes is noticed within 25 s when idle, 15 s when it owes us an acknowledgement.
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

    /// NULL-terminated arrays of keywords and of values, alive during the call.
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
                // Never empty: the baseAddress of an array with elements is there.
                guard let keywords = keywords.baseAddress, let values = values.baseAddress else {
                    return body([nil], [nil])
                }
                return body(keywords, values)
            }
        }
    }
}
