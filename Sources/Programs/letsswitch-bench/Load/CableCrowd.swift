import Glibc

/// Connections of `/cable` that send nothing. They don't read, so bytes sent to them stay in the kernel.
final class CableCrowd {
    /// The maximum number of connections that wait for their answer at the same time.
    private static let wave = 128

    private let server: Server
    private(set) var sockets: [Int32] = []

    init(of server: Server) {
        self.server = server
    }

    deinit {
        for socket in sockets { close(socket) }
    }

    /// Connects until there are `count` connections.
    func gather(upTo count: Int) throws(BenchFailure) {
        while sockets.count < count {
            let first = sockets.count
            for number in first..<min(first + Self.wave, count) {
                let socket = try LoadSocket.connect(port: server.port, source: number)
                sockets.append(socket)
                let request = LoadFrame.upgrade(target: "/cable")
                try LoadSocket.send(request, request.count, to: socket)
            }
            for socket in sockets[first...] { try UpgradeResponse.awaitWelcome(on: socket) }
        }
    }
}
