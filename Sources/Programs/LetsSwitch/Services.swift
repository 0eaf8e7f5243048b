import Basics
import Features
import Postgres

// Services of parts that must be ended but have no task of their own.

/// The connection pools, which everything else uses.
struct DatabaseService: Service {
    let pools: DatabasePools

    func run() async {}

    func stop(within limit: Duration) async {
        await pools.shutdown()
    }
}

struct ListenerService: Service {
    let listener: PostgresListener

    func run() async {
        await listener.start()
    }

    func stop(within limit: Duration) async {
        await listener.stop()
    }
}
