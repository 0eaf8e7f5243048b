import Basics
import Rooms

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
