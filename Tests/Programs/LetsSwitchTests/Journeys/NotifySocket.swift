import Dispatch
import Foundation
import Glibc
import TestSupport

/// systemd's end of `Type=notify`: a datagram socket that records the messages it receives.
final class NotifySocket {
    let path: String
    let messages = EventRecorder<String>()
    private let source: any DispatchSourceRead

    init() throws {
        path = "/tmp/letsswitch-notify-\(UUID().uuidString.prefix(8))"
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ClientFailure.system(call: "socket", code: errno) }
        let bound = try ClientEndpoint.unix(path: path).withSocketAddress { bind(descriptor, $0, $1) }
        guard bound == 0 else {
            let code = errno
            close(descriptor)
            throw ClientFailure.system(call: "bind", code: code)
        }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "test.notify"))
        self.source = source
        source.setEventHandler { [messages] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count >= 0 else { return }
                messages.append(String(decoding: buffer[..<count], as: UTF8.self))
            }
        }
        source.setCancelHandler { close(descriptor) }
        source.activate()
    }

    deinit {
        source.cancel()
        unlink(path)
    }
}
