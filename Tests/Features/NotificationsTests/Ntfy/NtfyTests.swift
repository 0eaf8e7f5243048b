import Domain
import HTTPClient
import TestSupport
import Testing
import Wire

@testable import Notifications

/// ntfy's messages.
@Suite struct NtfyTests {
    @Test("A message contains the title, the partner and the start, and links to the room")
    func message() throws {
        let json = try TestJSON(parsing: NtfyMessage(.sample(), publicURL: "https://example.org").json)
        #expect(json["topic"].string == "topic")
        #expect(json["title"].string == "History")
        #expect(json["message"].string == "Starts at 09:00. Somebody starts Maths with you: the room is open.")
        #expect(json["priority"].int == 4)
        #expect(json["tags"][0].string == "alarm_clock")
        #expect(json["click"].string == "https://example.org/#room/\(Instant(seconds: 1_795_338_060))")
        let alone = try TestJSON(parsing: NtfyMessage(.sample(partner: nil), publicURL: nil).json)
        #expect(alone["click"].isAbsent)
    }

    @Test("A right-to-left title doesn't affect the text around it")
    func directions() throws {
        let json = try TestJSON(
            parsing: NtfyMessage(.sample(partner: "\u{202E}שלום"), publicURL: nil).json)
        #expect(
            json["message"].string
                == "Starts at 09:00. Somebody starts \u{2068}\u{202E}שלום\u{202C}\u{2069} with you: the room is open.")
        #expect(json["title"].string == "History")
    }

    @Test("A topic is constant, and belongs to one device")
    func topic() throws {
        let secret = [UInt8](repeating: 1, count: 32)
        let topic = try NtfyTopic.name(of: DeviceID(stored: "ada"), secret: secret)
        #expect(topic.count == 35)
        #expect(topic.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") })
        #expect(try NtfyTopic.name(of: DeviceID(stored: "ada"), secret: secret) == topic)
        #expect(try NtfyTopic.name(of: DeviceID(stored: "bob"), secret: secret) != topic)
        #expect(
            try NtfyTopic.name(of: DeviceID(stored: "ada"), secret: [UInt8](repeating: 2, count: 32)) != topic)
    }

    @Test("The number of requests in flight follows the setting")
    func concurrency() throws {
        var settings = ProviderSettings()
        settings.ntfy.server = "https://ntfy.example.org"
        #expect(NtfyProvider(settings.ntfy, publicURL: nil)?.concurrency == 8)
        settings.ntfy.concurrency = 77
        #expect(NtfyProvider(settings.ntfy, publicURL: nil)?.concurrency == 77)
        #expect(settings.descriptors == 154)
    }

    @Test(
        "Each response leads to its outcome",
        arguments: [
            (200, nil, AttemptOutcome.accepted), (429, nil, .paused(for: .seconds(5), "status 429")),
            (429, "12", .paused(for: .seconds(12), "status 429")),
            (401, nil, .paused(for: .seconds(60), "status 401: the server rejects the token")),
            (500, nil, .retry(after: nil, "status 500")), (400, nil, .refused("status 400")),
        ])
    func outcomes(_ status: Int, _ retryAfter: String?, _ outcome: AttemptOutcome) {
        let headers = retryAfter.map { [HTTPField("Retry-After", $0)] } ?? []
        #expect(NtfyProvider.outcome(of: OutgoingResponse(status: status, headers: headers)) == outcome)
    }
}
