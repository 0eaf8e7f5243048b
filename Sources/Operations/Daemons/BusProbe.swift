import Basics
package import Rooms

/// Tests a bus with a packet that a daemon sends to itself.
package enum BusProbe {
    package enum Outcome: Equatable {
        /// The packet's round trip.
        case works(Duration)
        case fails(String)
    }

    private static let packet = Array("probe".utf8)

    /// Starts the bus, tests it, and stops it again.
    ///
    /// - Parameter id: The id that the bus was made with.
    package static func run(_ bus: any Bus, id: DaemonID, within limit: Duration) async -> Outcome {
        let (events, sink) = AsyncStream.makeStream(of: BusEvent.self)
        let reason = Locked("no answer within \(limit)")
        await bus.start { sink.yield($0) }
        let outcome: Outcome? = await withTimeout(limit) {
            var sent = MonotonicTime.now()
            for await event in events {
                switch event {
                case .connected:
                    sent = .now()
                    do throws(BusError) {
                        try await bus.send([BusPacket(to: .daemon(id), packet)])
                    } catch {
                        if case .refused(let message) = error { return .fails(message) }
                    }
                case .received(from: id, packet): return .works(.now() - sent)
                case .received: break
                case .lost(let message): reason.withLock { $0 = message }
                }
            }
            return nil
        } onTimeout: {
            sink.finish()
        }
        await bus.stop()
        return outcome ?? .fails(reason.withLock { $0 })
    }
}
