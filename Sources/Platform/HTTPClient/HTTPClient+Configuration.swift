extension HTTPClient {
    package struct Configuration: Sendable, Hashable {
        package enum Version: Sendable, Hashable {
            /// HTTP/2 if the server offers it (ALPN); otherwise HTTP/1.1.
            case any
            /// One connection per host with many streams.
            case http2
        }

        package var version: Version = .any
        /// A PEM file of trusted authorities, instead of the system's.
        package var caFile: String?
        package var connectTimeout: Duration = .seconds(10)
        /// The time limit from the start of a request, including its wait, to the end of its response.
        package var timeout: Duration = .seconds(20)
        /// The maximum number of requests in flight.
        package var maxInFlight = 100
        /// The maximum number of waiting requests. Further ones are refused.
        package var maxWaiting = 10_000
        /// The maximum number of connections to one host.
        package var maxConnectionsPerHost = 8
        /// The maximum number of bytes read of a response's body.
        package var maxBodyBytes = 16_384
        /// Whether requests may go to loopback, private and link-local networks. The connected address decides, so a
        /// name server can't circumvent it.
        package var allowsPrivateAddresses = false
        /// `User-Agent`.
        package let agent: String

        package init(agent: String) {
            self.agent = agent
        }
    }
}
