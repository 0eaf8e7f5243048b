import DoorTestSupport
import TestSupport
import Testing

@testable import LetsSwitchClient

/// Tests that an answer that isn't described is reported. All other tests receive described answers.
@Suite struct JudgedTransportTests {
    @Test(
        "A daemon's messages to a client are checked by their route",
        arguments: [
            ("/socket?id=1", LinkEvent.message(.text, Array(#"{"type":"surprise"}"#.utf8)), 1),
            ("/socket?id=1", .message(.text, Array(#"{"type":"handshake"}"#.utf8)), 0), ("/socket?id=1", .alive, 0),
            ("/reminders?deviceId=ada", .event(type: "schedule", data: "{}", id: nil), 1),
            ("/elsewhere", .message(.text, Array("anything".utf8)), 0),
        ]) func judged(_ target: String, _ said: LinkEvent, _ count: Int) async throws
    {
        let played = PlayedTransport(as: .foreign)
        let complaints = EventRecorder<String>()
        let transport = JudgedTransport(played) { ProductDoors.judge($0) { complaints.append($0) } }
        played.admit().say(said)
        #expect(try await transport.eventStream(ClientRequest(target: target)).receive() == said)
        #expect(complaints.all.count == count)
    }
}
