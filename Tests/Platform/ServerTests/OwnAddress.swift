import Glibc

/// An address of this machine that isn't loopback.
enum OwnAddress {
    static let outside: String? = {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let address = entry.pointee.ifa_addr, CInt(address.pointee.sa_family) == AF_INET else { continue }
            var host = [CChar](repeating: 0, count: 64)
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard getnameinfo(address, size, &host, 64, nil, 0, NI_NUMERICHOST) == 0 else { continue }
            let text = String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if !text.hasPrefix("127.") { return text }
        }
        return nil
    }()
}
