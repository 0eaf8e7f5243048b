import Delivery
import Glibc
package import Wire

extension Configuration {
    /// The names that requests may be for: those that are set, that of the public URL, and this machine's. Addresses always may.
    package var servedHosts: AllowedHosts {
        var hosts = hosts
        if let publicURL = providers.publicURL, let url = ProviderURL(publicURL) { hosts.insert(url.host) }
        for name in ["localhost"] + Self.machineNames + listen.compactMap(\.host) + operationsListen.compactMap(\.host)
        {
            hosts.insert(name)
        }
        return hosts
    }

    /// `box.example.org`: that, `box`, and `box.local`, by which a home's network finds it (RFC 6762 §3). No name server is
    /// asked.
    private static var machineNames: [String] {
        let name = machineName
        guard let label = name.split(separator: ".").first else { return [] }
        return [name, String(label), "\(label).local"]
    }

    /// As the kernel knows it; empty if it doesn't.
    package static var machineName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        // One byte less: a name that is cut need not end with NUL.
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension ListenAddress {
    /// A name is this machine's if it can be listened on; of an address nothing need be known.
    fileprivate var host: String? {
        switch self {
        case .tcp(let host, _), .tls(let host, _): host
        case .unix: nil
        }
    }
}
