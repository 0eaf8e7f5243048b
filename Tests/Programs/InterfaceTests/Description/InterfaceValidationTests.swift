import Foundation
import InterfaceTestSupport
import JourneyTestSupport
import Settings
import TestSupport
import Testing

/// The test support reports messages that aren't described. All other tests rely on it.
@Suite struct InterfaceValidationTests {
    @Test(
        "Each protocol has its schemas",
        arguments: [
            ("/socket?id=1&presence=true", "ale"), ("/socket?taskId=1&id=2", "ale"), ("/socket", "questions"),
            ("/socket?deviceId=ada", "questions"), ("/cable?deviceId=ada", "cable"), ("/cable", "cable"),
            ("/questions/6B1D/socket?live=true", "questions"), ("/conversations/socket?deviceId=d1", "conversations"),
            ("/reminders?deviceId=ada", "events"), ("/messages?deviceId=ada", "events"), ("/echo", nil),
        ]) func schemas(_ target: String, _ schema: String?)
    {
        #expect(InterfaceValidation.schema(of: target) == schema)
    }

    @Test(
        "A message that isn't described is reported",
        arguments: [
            ("/socket?id=1", nil, #"{"type":"handshake","more":1}"#), ("/socket?id=1", nil, #"{"type":"ale"}"#),
            ("/cable", nil, "no JSON"), ("/questions/1/socket", nil, #"{"type":"presence","data":{"count":"1"}}"#),
            ("/conversations/socket", nil, #"{"type":"error","code":"a"}"#),
            ("/reminders?deviceId=ada", "schedule", #"{"startsAt":"tomorrow"}"#),
            ("/reminders?deviceId=ada", "surprise", "{}"),
        ]) func violations(_ target: String, _ event: String?, _ message: String) async throws
    {
        let violations = EventRecorder<String>()
        let validator = try #require(InterfaceValidation.validator(target) { violations.append($0) })
        validator(event, Array(message.utf8))
        #expect(violations.all.count == 1)
        // Journeys have such a validator too.
        #expect(await InterfaceValidation.validating { MessageValidation.validator?(target) } != nil)
    }

    @Test("All clients of the tests validate the messages that they receive") func clients() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.echo = true }
            // The server here receives messages, so they are validated as a client's.
            let received = EventRecorder<String>()
            for library in ClientLibrary.allCases {
                let peer = try await MessageValidation.$validator.withValue({ _ in
                    { _, message in received.append("\(library): \(String(decoding: message, as: UTF8.self))") }
                }) {
                    try await library.enter("/echo", at: endpoint)
                }
                try await peer.send("Tea?")
                _ = try await peer.receive()
                #expect(received.all.last == "\(library): Tea?")
            }
            let socket = try await MessageValidation.$validator.withValue({ _ in
                { _, message in received.append("frames: \(String(decoding: message, as: UTF8.self))") }
            }) {
                try await WebSocketTestClient.connect(to: endpoint, "/echo")
            }
            try await socket.send(text: "Coffee?")
            _ = try await socket.nextFrame()
            #expect(received.all.last == "frames: Coffee?")
            let stream = try await MessageValidation.$validator.withValue({ _ in
                { event, _ in received.append(event ?? "") }
            }) {
                try await endpoint.reminders(of: "ada")
            }
            try await endpoint.register("ada", try await journey.instant(in: 600))
            _ = try await stream.nextChange()
            #expect(received.all.last == "schedule")
        }
    }
}
