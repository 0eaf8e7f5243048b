extension HTTPClient {
    package struct Configuration: Sendable, Hashable {
        package enum Version: Sendable, Hashable {
            /// HTTP/2 where the server offers it (ALPN), else HTTP/1.1.
            case any
            /// One connection to a host, with many streams.
            case http2
        }

        package var version: Version = .any
        /// Whom to trust instead of the system's authorities: a file in PEM.
        package var caFile: String?
        package var connectTimeout: Duration = .seconds(10)
        /// From a request's start (which may have to wait, when there are many) to the end of its answer.
        package var timeout: Duration = .seconds(20)
        /// Requests on their way at once.
        package var maxInFlight = 100
        /// Requests that wait until they may start; more are refused.
        package var maxWaiting = 10_000
        /// Connections to one host.
        package var maxConnectionsPerHost = 8
        /// Bytes of an answer's body that are read.
        package var maxBodyBytes = 16_384
        /// Whether requests may go to addresses that the internet doesn't route: loopback, private and link-local networks.
        /// Judged by the address that is connected to, so that no name server can turn it round.
        package var allowsPrivateAddresses = false
        /// `User-Agent`.
        package let agent: String

        package init(agent: String) {
            self.agent = agent
        }
    }
}
