import Basics
import Glibc

/// The values of a daemon's `/metrics`.
struct ServerMetrics {
    private static let longest = 1 << 20
    private var samples: [Substring: Double] = [:]

    init(of server: Server) throws(BenchFailure) {
        let socket = try LoadSocket.connect(port: server.port, source: 0)
        defer { close(socket) }
        let request = LoadRequest.get("/metrics")
        try LoadSocket.send(request, request.count, to: socket)
        var bytes: [UInt8] = []
        while try !HTTPResponse.isWhole(bytes) {
            let more = try LoadSocket.receive(from: socket)
            guard !more.isEmpty, bytes.count < Self.longest else { throw BenchFailure("no metrics of \(server.name)") }
            bytes += more
        }
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            guard let blank = line.lastIndex(of: " "), let value = Double(line[line.index(after: blank)...]) else {
                continue
            }
            samples[line[..<blank]] = value
        }
    }

    /// Returns the sum of a metric's samples over all labels; 0 if the metric is missing.
    func sum(_ name: String) -> Double {
        samples.reduce(0) { $1.key.prefix { $0 != "{" } == name ? $0 + $1.value : $0 }
    }

    /// Waits until the daemon's bus is connected to `others` other daemons.
    static func awaitBus(of server: Server, others: Int) throws(BenchFailure) {
        let deadline = MonotonicTime.now() + .seconds(30)
        while true {
            let metrics = try ServerMetrics(of: server)
            if Int(metrics.sum("letsswitch_bus_daemons")) >= others, metrics.sum("letsswitch_bus_connected") > 0 {
                return
            }
            guard MonotonicTime.now() < deadline else {
                throw BenchFailure("\(server.name) doesn't know \(others) other daemons")
            }
            usleep(20_000)
        }
    }
}
