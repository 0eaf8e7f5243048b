package import AMQP
import Basics

/// Tests whether a broker can carry conversations. Declares the exchange and the queue as the daemon does, and consumes
/// nothing.
package enum BridgeProbe {
    package enum Outcome: Equatable {
        case works
        case fails(String)
    }

    package static func run(_ url: AMQPURL, authorities: String?, within limit: Duration) async -> Outcome {
        var configuration = AMQPConfiguration(url: url, name: "letsswitch check")
        if let authorities { configuration.authorities = authorities }
        let connection = AMQPConnection(configuration, declaring: BridgeTopology.places)
        let (events, sink) = AsyncStream.makeStream(of: AMQPEvent.self)
        let reason = Locked("no answer within \(limit)")
        connection.start { sink.yield($0) }
        let outcome: Outcome? = await withTimeout(limit) {
            for await event in events {
                switch event {
                case .connected: return .works
                case .lost(let message): reason.withLock { $0 = message }
                case .delivered, .blocked, .unblocked: break
                }
            }
            return nil
        } onTimeout: {
            sink.finish()
        }
        await connection.stop()
        return outcome ?? .fails(reason.withLock { $0 })
    }
}
