import Foundation
import JourneyTestSupport
import Postgres
import Settings
import TestSupport
import Testing

/// The network loses a registration, or its answer.
@Suite struct LostAnswerTests {
    @Test(
        "A registration whose answer is lost isn't reported as a success",
        arguments: [(lost: StallingRelay.Direction.toClient, repeated: 200), (lost: .toServer, repeated: 201)])
    func lost(direction: StallingRelay.Direction, repeated: Int) async throws {
        try await Journey.run { journey in
            let (relay, conninfo) = try journey.relay()
            let endpoint = try await journey.daemon {
                $0.database = .url(conninfo)
                // The daemon notices the lost answer only when the connection ends.
                $0.postgres.stallTimeout = .seconds(30)
            }
            let start = try await journey.instant(in: 3600)
            // The statements are prepared, and the pool is idle.
            try await endpoint.register("warm", start)
            #expect(try await endpoint.post("/task/delete", ClientEndpoint.task("warm", start, "")).status == 200)

            relay.stall([direction])
            async let answer = endpoint.post("/task", ClientEndpoint.task("ada", start, "History"))
            switch direction {
            case .toClient:
                try await journey.wait(until: "EXISTS (SELECT FROM schedule.task WHERE device_id = 'ada')")
            case .toServer:
                try await eventually("the statement, held back") { relay.heldPieces(.toServer) > 0 }
            }
            relay.drop()
            let refused = try await answer
            relay.resume()
            #expect(refused.status == 503 && refused.headers["Retry-After"] != nil)

            let again = try await endpoint.post("/task", ClientEndpoint.task("ada", start, "History"))
            #expect(again.status == repeated)
            let task = try again.decode(RegisteredTask.self)
            let rows = try await journey.sql("SELECT id::text FROM schedule.task WHERE device_id = 'ada'")
            #expect(try rows.map { UUID(uuidString: try $0.string("id")) } == [task.id])
            // The partner is still available.
            #expect(try await endpoint.register("bob", start).socketId == task.socketId)
            relay.close()
        }
    }

    @Test("A cancellation whose answer is lost isn't reported as a success")
    func cancellation() async throws {
        try await Journey.run { journey in
            let (relay, conninfo) = try journey.relay()
            let endpoint = try await journey.daemon {
                $0.database = .url(conninfo)
                $0.postgres.stallTimeout = .seconds(30)
            }
            let start = try await journey.instant(in: 3600)
            let request = ClientEndpoint.task("ada", start, "History")
            try await endpoint.register("ada", start)
            relay.stall([.toClient])
            async let answer = endpoint.post("/task/delete", request)
            try await journey.wait(until: "NOT EXISTS (SELECT FROM schedule.task)")
            relay.drop()
            #expect(try await answer.status == 503)
            relay.resume()
            #expect(try await endpoint.post("/task/delete", request).status == 404)
            relay.close()
        }
    }
}
