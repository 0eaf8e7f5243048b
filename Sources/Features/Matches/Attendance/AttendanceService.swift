import Basics
import Rooms

/// Writes the attendance of members when the daemon stops. Uses at most half of the time, in case the database hangs,
/// so that later services keep their time.
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
