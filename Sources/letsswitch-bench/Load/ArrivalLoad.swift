import Glibc

/// Peers that come, in waves of 128, and stay until all are there; two to a room.
enum ArrivalLoad {
    /// Has `count` peers connect and upgrade; the work counted is that of the server until it rests.
    static func run(_ server: Server, peers count: Int, offersCompression: Bool) throws(BenchFailure) -> Sample {
        let crowd = Crowd(
            of: server, roomSize: 2, roomCount: count / 2, offersCompression: offersCompression)
        let meter = try ProcessMeter(pid: server.pid)
        let watch = try Stopwatch(server)
        try crowd.gather()
        let sample = try watch.stop(work: crowd.peerCount)
        crowd.disperse()
        try meter.waitUntilIdle()
        return sample
    }
}
