import Observability
import Server
import Settings
import Sockets

/// The server's limits, its trusted proxies and its certificate.
struct ServerEdge: Sendable {
    let limits: ServerLimits
    let policy: EdgePolicy
    let tls: TLSContext?
}

/// The addresses to listen on, their audiences and trusted proxies.
extension Daemon {
    func resolveAddresses() throws -> [ServerEndpoint] {
        let audience = configuration.operationsListen.isEmpty ? Audience.everyone : .people
        return try configuration.listen.flatMap { try $0.endpoints(for: audience) }
            + configuration.operationsListen.flatMap { try $0.endpoints(for: .operators) }
    }

    /// - Parameter data: The name of the database in the log.
    func report(_ endpoint: ServerEndpoint, data: String) {
        if endpoint.audience == .operators {
            log.info("listening", ["address": .string("\(endpoint)"), "serves": "operations"])
        } else {
            log.info("listening", ["address": .string("\(endpoint)"), "data": .string(data)])
        }
    }

    /// The limits of connections, from the settings and the system's limits.
    var limits: ServerLimits {
        var limits = configuration.limits
        limits.maxConnections = affordableConnections()
        limits.maxConnectionsPerAddress = affordablePerAddress(of: limits.maxConnections)
        return limits
    }

    /// Returns the limit of connections per address. If there are few descriptors, it keeps one address from using all
    /// of them.
    private func affordablePerAddress(of connections: Int) -> Int {
        min(configuration.limits.maxConnectionsPerAddress, connections / 4)
    }

    /// Returns the number of connections that may be open. Each connection takes a descriptor.
    private func affordableConnections() -> Int {
        let descriptors = FileDescriptorLimit.raise()
        let affordable = max(16, descriptors - configuration.reservedDescriptors)
        guard affordable < configuration.limits.maxConnections else { return configuration.limits.maxConnections }
        log.warning(
            "fewer connections are accepted than --max-connections: too few file descriptors (ulimit -n, LimitNOFILE=)",
            [
                "maxConnections": .int(configuration.limits.maxConnections), "connections": .int(affordable),
                "connectionsPerAddress": .int(affordablePerAddress(of: affordable)), "descriptors": .int(descriptors),
            ])
        return affordable
    }

    var edge: EdgePolicy {
        var edge = EdgePolicy()
        edge.trustedProxies = configuration.trustedProxies
        edge.expectsProxyHeader = configuration.proxyProtocol
        edge.allowedOrigins = configuration.allowedOrigins
        edge.allowedRequestFields = "Authorization, Content-Type, Last-Event-ID"
        edge.allowedHosts = configuration.servedHosts
        edge.hostRefused = { [log] host in
            log.warning(
                "refused a request for another host name: if people use that name for this server, set --public-url or --hosts",
                ["host": .string(host)])
        }
        edge.strictTransportSeconds = Int(configuration.strictTransport.components.seconds)
        edge.tlsHandshakeFailed = { [log] cause, reason in
            // Scanners from the internet would fill the log, so failed handshakes are logged only at the debug level.
            log.debug("TLS handshake failed", ["cause": .string(cause.rawValue), "error": .string(reason)])
        }
        return edge
    }
}

extension ListenAddress {
    /// Returns the endpoints of the address. A host name can have several.
    fileprivate func endpoints(for audience: Audience) throws -> [ServerEndpoint] {
        // Operators' tools such as Prometheus connect without a proxy.
        let isBehindProxies = audience != .operators
        switch self {
        case .tcp(let host, let port):
            return try SocketAddress.resolve(host: host, port: port).map {
                ServerEndpoint($0, audience: audience, isBehindProxies: isBehindProxies)
            }
        case .tls(let host, let port):
            return try SocketAddress.resolve(host: host, port: port).map {
                ServerEndpoint($0, speaksTLS: true, audience: audience, isBehindProxies: isBehindProxies)
            }
        case .unix(let path):
            return [
                ServerEndpoint(try SocketAddress(path: path), audience: audience, isBehindProxies: isBehindProxies)
            ]
        }
    }
}
