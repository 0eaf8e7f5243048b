import Basics
import LiveSchedule
import Postgres
import Rooms
import Scheduling

// The ends of what needs no task of its own to run, in the list of services.

/// The pools of connections, on which all else lives.
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

/// What the kernel has taken for a stream at the end is still acknowledged.
struct AcknowledgementService: Service {
    let streams: EventStreams
    let acknowledgements: Acknowledgements

    func run() async {}

    func stop(within limit: Duration) async {
        await acknowledgements.add(await streams.takeAcknowledgements())
        await acknowledgements.finish()
    }
}

/// Who came and went at the end is still written, unless the database stands still: those that end after it are left their time.
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

/// A service that leaves some of the time for its end to those that end after it.
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
