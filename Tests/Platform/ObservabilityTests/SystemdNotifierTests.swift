import Foundation
import Testing

@testable import Observability

@Suite struct LogSystemdNotifierTests {
    /// Opens a datagram socket bound to a path, or to an abstract name if the first byte is NUL.
    private func receiver(_ name: [UInt8]) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bound = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(bound == 0)
        return descriptor
    }

    private func receive(_ descriptor: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: 512)
        // A datagram to a Unix socket has arrived when the sender returns.
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }

    @Test("systemd receives the service's states", arguments: [false, true])
    func systemdHearsHowTheServiceIs(isAbstract: Bool) throws {
        let name = "letsswitch-notify-\(UUID().uuidString)"
        let path = isAbstract ? "@\(name)" : "/tmp/\(name)"
        let descriptor = try receiver(isAbstract ? [0] + Array(name.utf8) : Array(path.utf8))
        defer {
            close(descriptor)
            if !isAbstract { unlink(path) }
        }
        let notifier = SystemdNotifier(socket: path)
        notifier.ready(status: "listening on\n127.0.0.1:1")
        notifier.status("busy")
        notifier.stopping()
        #expect(receive(descriptor) == "READY=1\nSTATUS=listening on 127.0.0.1:1")
        #expect(receive(descriptor) == "STATUS=busy")
        #expect(receive(descriptor) == "STOPPING=1\nSTATUS=draining")
        #expect(receive(descriptor) == nil)
    }

    @Test(
        "Without systemd nothing happens",
        arguments: [nil, "", "relative", "/tmp/nobody-listens-here", "/" + String(repeating: "x", count: 500)])
    func nobodyToTellIsNoHarm(_ socket: String?) {
        SystemdNotifier(socket: socket).ready(status: "up")
    }
}
