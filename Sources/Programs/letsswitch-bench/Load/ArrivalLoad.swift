import Basics
import FoundationEssentials
import Glibc

/// Peers that connect, upgrade and stay, two per room, with a fixed number of attempts in progress.
struct ArrivalLoad: ~Copyable {
    private static let window = 64
    private static let patience: Int32 = 5_000

    private struct Peer {
        let socket: Int32
        let since: UInt64
        var response: [UInt8] = []
    }

    private let server: Server
    private let poller: Poller
    /// The requests, built in advance.
    private let requests: [[UInt8]]
    private var peers: [Peer] = []
    private var arrived = 0
    private var buffer = [UInt8](repeating: 0, count: 1_024)
    private var latency = LatencyHistogram()

    init(_ server: Server, peers count: Int, offersCompression: Bool) throws(BenchFailure) {
        let poller = try Poller()
        self.server = server
        self.poller = poller
        let rooms = (0..<((count + 1) / 2)).map { _ in UUID().uuidString }
        requests = (0..<count).map { LoadFrame.upgrade(room: rooms[$0 / 2], offersCompression: offersCompression) }
        peers.reserveCapacity(count)
    }

    /// Connects all peers and measures. Then closes their connections, and returns when the server is idle.
    mutating func run() throws(BenchFailure) -> Sample {
        let meter = try ProcessMeter(pid: server.pid)
        let watch = try Stopwatch(server)
        while peers.count < min(Self.window, requests.count) { try come() }
        while arrived < requests.count {
            let count = try poller.wait(milliseconds: Self.patience)
            guard count > 0 else {
                throw BenchFailure("\(server.name): \(peers.count - arrived) upgrades aren't answered")
            }
            for index in 0..<count where try isGreeted(poller[index]) && peers.count < requests.count { try come() }
        }
        var sample = try watch.stop(work: arrived)
        sample.latency = latency
        for peer in peers { close(peer.socket) }
        try meter.waitUntilIdle()
        return sample
    }

    private mutating func come() throws(BenchFailure) {
        let number = peers.count
        let since = MonotonicTime.now().nanoseconds
        let socket = try LoadSocket.connect(port: server.port, source: number)
        peers.append(Peer(socket: socket, since: since))
        try LoadSocket.send(requests[number], requests[number].count, to: socket)
        try poller.add(socket, number: number)
    }

    private mutating func isGreeted(_ number: Int) throws(BenchFailure) -> Bool {
        let count = recv(peers[number].socket, &buffer, buffer.count, 0)
        guard count > 0 else {
            throw count < 0 ? BenchFailure(call: "recv (upgrade)") : BenchFailure("an upgrade was refused")
        }
        peers[number].response += buffer[..<count]
        guard UpgradeResponse.isComplete(peers[number].response) else { return false }
        try UpgradeResponse.check(peers[number].response)
        peers[number].response = []
        latency.add(nanoseconds: MonotonicTime.now().nanoseconds &- peers[number].since)
        arrived += 1
        return true
    }
}
