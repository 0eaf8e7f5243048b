import InterfaceTestSupport
import TestSupport
import Testing

@testable import LetsSwitchClient

/// Tests that an answer that isn't described is reported. All other tests receive described answers.
@Suite struct ValidatingTransportTests {
    @Test(
        "A daemon's messages to a client are checked by their route",
        arguments: [
            ("/socket?id=1", LinkEvent.message(.text, Array(#"{"type":"surprise"}"#.utf8)), 1),
            ("/socket?id=1", .message(.text, Array(#"{"type":"handshake"}"#.utf8)), 0), ("/socket?id=1", .alive, 0),
            ("/reminders?deviceId=ada", .event(type: "schedule", data: "{}", id: nil), 1),
            ("/elsewhere", .message(.text, Array("anything".utf8)), 0),
        ]) func validating(_ target: String, _ event: LinkEvent, _ count: Int) async throws
    {
        let simulated = SimulatedTransport(as: .foreign)
        let violations = EventRecorder<String>()
        let transport = ValidatingTransport(simulated) { InterfaceValidation.validator($0) { violations.append($0) } }
        simulated.accept().deliver(event)
        #expect(try await transport.eventStream(ClientRequest(target: target)).receive() == event)
        #expect(violations.all.count == count)
    }
}
