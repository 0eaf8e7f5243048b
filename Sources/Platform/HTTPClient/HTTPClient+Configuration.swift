extension HTTPClient {
    package struct Configuration: Sendable, Hashable {
        package enum Version: Sendable, Hashable {
            /// HTTP/2 if the server offers it (ALPN), and otherwise HTTP/1.1.
            case any
            /// HTTP/2, with one connection per host and many streams on it.
            case http2
        }

        package var version: Version = .any
        /// A PEM file of trusted certificate authorities that replace the system's.
        package var caFile: String?
        package var connectTimeout: Duration = .seconds(10)
        /// The time limit of a request, from the call until the end of the response. The limit includes the time that
        /// the request waits for a free transfer.
        package var timeout: Duration = .seconds(20)
        /// The maximum number of requests in flight.
        package var maxInFlight = 100
        /// The maximum number of waiting requests. Further requests are refused.
        package var maxWaiting = 10_000
        /// The maximum number of connections to one host.
        package var maxConnectionsPerHost = 8
        /// The maximum number of bytes that are read of a response's body.
        package var maxBodyBytes = 16_384
        /// Whether requests may go to loopback, private and link-local networks. The address of the connection is
        /// checked, not the name, so a name server can't circumvent the check.
        package var allowsPrivateAddresses = false
        /// The value of the field `User-Agent`.
        package let agent: String

        package init(agent: String) {
            self.agent = agent
        }
    }
}
