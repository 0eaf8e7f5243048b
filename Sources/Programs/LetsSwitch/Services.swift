import Basics
import LiveSchedule
import Postgres
import Rooms
import Scheduling

// Services for parts that need an end but no task of their own.

/// The connection pools, which everything else uses.
struct DatabaseService: Service {
    let stores: DatabaseStores

    func run() async {}

    func stop(within limit: Duration) async {
        await stores.shutdown()
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

/// Writes the acknowledgements of reminders that the kernel accepted at the end.
struct AcknowledgementService: Service {
    let streams: EventStreams
    let acknowledgements: Acknowledgements

    func run() async {}

    func stop(within limit: Duration) async {
        await acknowledgements.add(await streams.takeAcknowledgements())
        await acknowledgements.finish()
    }
}

/// Writes the attendance of members at the end, unless the database hangs. Later services keep their time.
struct AttendanceService: Service {
    let rooms: Rooms
    let writer: AttendanceWriter

    func run() async {}

    func stop(within limit: Duration) async {
        await Task {
            await writer.add(await rooms.takePresenceEvents())
            await writer.finish()
        }.ends(within: limit / 2)
    }
}

/// A service that leaves part of its ending time to the services that end after it.
struct EarlyEndingService: Service {
    let service: any Service
    let reserve: Duration

    func run() async {
        await service.run()
    }

    func stop(within limit: Duration) async {
        await service.stop(within: max(.zero, limit - reserve))
    }
}
