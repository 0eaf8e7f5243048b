import Glibc
import Notifications
package import Wire

extension Configuration {
    /// The host names that requests may use: the configured ones, the name in the public URL, and this machine's names.
    /// IP addresses are always allowed.
    package var servedHosts: AllowedHosts {
        var hosts = hosts
        if let publicURL = providers.publicURL, let url = ProviderURL(publicURL) { hosts.insert(url.host) }
        for name in ["localhost"] + Self.machineNames + listen.compactMap(\.host) + operationsListen.compactMap(\.host)
        {
            hosts.insert(name)
        }
        return hosts
    }

    /// The addresses of `--listen` that other machines can connect to.
    package var openAddresses: [ListenAddress] { listen.filter(\.isOpen) }

    /// Whether the settings name a host by which people reach the server.
    package var namesHost: Bool {
        providers.publicURL != nil || hosts != AllowedHosts()
            || openAddresses.contains { $0.host.map { IPAddress($0) == nil && !$0.contains(":") } == true }
    }

    /// The names of this machine. A machine called `box.example.org` has that name, `box`, and `box.local` for home
    /// networks (RFC 6762 §3). No name server is asked.
    private static var machineNames: [String] {
        let name = machineName
        guard let label = name.split(separator: ".").first else { return [] }
        return [name, String(label), "\(label).local"]
    }

    /// The host name from the kernel. Empty if the kernel returns none.
    package static var machineName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        // One byte stays free for NUL, because a truncated name may have none.
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension ListenAddress {
    /// The host name of an address to listen on, which counts as a name of this machine. `nil` for IP addresses, which
    /// are always allowed.
    fileprivate var host: String? {
        switch self {
        case .tcp(let host, _), .tls(let host, _): host
        case .unix: nil
        }
    }

    /// Whether other machines can connect to the address. Other machines can't connect to a loopback address or a Unix
    /// socket.
    fileprivate var isOpen: Bool {
        guard let host else { return false }
        return host.lowercased() != "localhost" && IPAddress(host)?.isLoopback != true
    }
}
