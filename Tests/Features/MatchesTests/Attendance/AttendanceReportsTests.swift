import Basics
import FoundationEssentials
import Observability
import Rooms
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Matches

/// The batches of joins and leaves that are written.
@Suite struct AttendanceReportsTests {
    @Test("The end of a rush of thousands is reported once")
    func rush() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let rushes = EventRecorder<String>()
            let reports = AttendanceReports(
                store: AttendanceStore(database: database.client), log: Log(level: .error, format: nil), written: {},
                rushIsOver: { rushes.append("over") }, id: UUID())
            let writer = BatchWriter(
                reports,
                limits: BatchLimits(itemsPerBatch: AttendanceReports.rush, waitingItems: 2 * AttendanceReports.rush))
            func come(_ count: Int) async {
                await writer.add(
                    (0..<count).map { _ in
                        .event(PresenceEvent(.joined, room: UUID(), claimedIdentity: nil, peers: 1, at: .now()))
                    })
                await writer.finish()
            }
            await come(AttendanceReports.rush - 1)
            await come(1)
            #expect(rushes.all == [])
            await come(AttendanceReports.rush + 1)
            #expect(rushes.all == ["over"])
            await come(1)
            #expect(rushes.all == ["over"])
        }
    }
}
