import Basics
import Foundation
import TestSupport
import Testing

@testable import LetsSwitchClient
@testable import letsswitch

/// Tests of finding the own task of a room.
@Suite struct RoomRunTests {
    /// Returns one answer after another, and repeats the last one.
    private final class AnsweringTransport: Transport {
        private let answers: Locked<[ClientResponse]>

        init(_ answers: [ClientResponse]) {
            self.answers = Locked(answers)
        }

        func exchange(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
            answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        }

        func webSocket(_ request: ClientRequest, subprotocols: [String]) async throws(ClientError) -> any Link {
            throw .unreachable("nobody plays that")
        }

        func eventStream(_ request: ClientRequest) async throws(ClientError) -> any Link {
            throw .unreachable("nobody plays that")
        }
    }

    private let room = UUID()
    private let waits = EventRecorder<Duration>()

    private var day: ClientResponse {
        let slot = #"{"id":"\#(UUID())","title":"","hasOwnTask":true,"hasSomebodyElse":false,"roomId":"\#(room)"}"#
        return ClientResponse(status: 200, body: Array(#"{"schedule":{"09:00":\#(slot)}}"#.utf8))
    }

    private func busy(_ status: Int, after seconds: Int?) -> ClientResponse {
        let fields = seconds.map { [ClientField("retry-after", "\($0)")] } ?? []
        return ClientResponse(status: status, fields: fields)
    }

    private func task(_ answers: ClientResponse...) async throws -> RoomTask? {
        let client = LetsSwitchClient(AnsweringTransport(answers), deviceID: "ada")
        return try await RoomRun(room, client, Output()).task(.room(room)) { waits.append($0) }
    }

    @Test("The command asks an overloaded server again after Retry-After")
    func busy() async throws {
        let task = try await task(busy(503, after: nil), busy(429, after: 7), busy(503, after: 30), day)
        #expect(task?.roomID == room)
        #expect(waits.all == [.seconds(1), .seconds(7), .seconds(30)])
    }

    @Test("The command gives up after five attempts, or if Retry-After is too long", arguments: [5, 31])
    func tooBusy(seconds: Int) async throws {
        await #expect {
            _ = try await task(busy(503, after: seconds))
        } throws: { error in
            guard case ClientError.refused(let refusal)? = error as? ClientError else { return false }
            return refusal.status == 503
        }
        #expect(waits.all.count == (seconds == 31 ? 0 : RoomRun.attempts - 1))
    }

    @Test("Only an unknown device has no task; any other refusal is an error", arguments: [400, 401, 404, 403, 500])
    func refused(status: Int) async throws {
        do {
            #expect(try await task(busy(status, after: nil)) == nil)
            #expect([400, 401, 404].contains(status))
        } catch ClientError.refused(let refusal) {
            #expect(refusal.status == status && ![400, 401, 404].contains(status))
        }
        #expect(waits.all.isEmpty)
    }
}
