import TestSupport
import Testing

@testable import Notifications

@Suite struct APNsPayloadTests {
    private static func delivery(
        title: String = "History", partner: String? = "Maths", isPaired: Bool = true
    ) -> Delivery {
        .pushed(
            .apns, address: "abad1dea", details: #"{"sandbox":false}"#, title: title, partnerTask: partner,
            isPaired: isPaired)
    }

    @Test("A reminder contains an alert and the app's data")
    func reminderContainsAlertAndAppsData() throws {
        #expect(
            try TestJSON(parsing: APNsPayload.json(Self.delivery())) == [
                "aps": [
                    "alert": ["title": "History", "body": "Starts at 10:00. Somebody starts with you: Maths"],
                    "sound": "default", "thread-id": "25ebeb34-4c7c-4043-8eac-5cfb5a70ca52",
                    "interruption-level": "time-sensitive",
                ],
                "type": "reminder", "id": "B00970D4-BCF1-4754-9BE9-59F14DA249B1",
                "taskId": "B6ADFFEC-4189-45D4-84B7-A182871A405B", "roomId": "25EBEB34-4C7C-4043-8EAC-5CFB5A70CA52",
                "startTime": "10:00", "startsAt": "2026-11-22T09:00:00Z", "partnerTask": "Maths",
            ])
    }

    @Test("A reminder without a partner has no room")
    func reminderWithoutPartnerHasNoRoom() throws {
        let alone = try TestJSON(parsing: APNsPayload.json(Self.delivery(isPaired: false)))
        #expect(alone["aps"]["alert"]["body"] == "Starts at 10:00.")
        #expect(alone["aps"]["thread-id"] == "b6adffec-4189-45d4-84b7-a182871a405b")
        #expect(alone["roomId"].isAbsent && alone["partnerTask"].isAbsent)
        // A partner whose data was erased has no title.
        let erased = try TestJSON(parsing: APNsPayload.json(Self.delivery(partner: nil)))
        #expect(erased["aps"]["alert"]["body"] == "Starts at 10:00. Somebody starts with you.")
    }

    @Test("A right-to-left title doesn't affect the text around it")
    func rightToLeftTitleDoesNotAffectTextAroundIt() throws {
        let json = try TestJSON(
            parsing: APNsPayload.json(Self.delivery(title: "a\u{2067}b", partner: "שלום\u{2069}")))
        #expect(json["aps"]["alert"]["title"].string == "a\u{2067}b\u{2069}")
        #expect(
            json["aps"]["alert"]["body"].string == "Starts at 10:00. Somebody starts with you: \u{2068}שלום\u{2069}")
        // The app's data is unchanged.
        #expect(json["partnerTask"].string == "שלום\u{2069}")
    }

    /// Both titles have the maximum length. Some of these characters take more bytes in JSON than in UTF-8.
    @Test(
        "No payload exceeds Apple's limit",
        arguments: ["x", "é", "🎹", "\u{1}", "\"", "e\u{301}"])
    func noPayloadExceedsApplesLimit(_ character: String) throws {
        let title = String(repeating: character, count: 200 / character.unicodeScalars.count)
        for limit in [APNsPayload.maxBytes, APNsPayload.shortBytes] {
            let json = APNsPayload.json(Self.delivery(title: title, partner: title), maxBytes: limit)
            #expect(json.count <= limit)
            let shown = try #require(try TestJSON(parsing: json)["aps"]["alert"]["title"].string)
            #expect(shown == title || (shown.hasSuffix("…") && title.hasPrefix(shown.dropLast())))
        }
    }

    @Test("Titles that fit aren't cut")
    func titlesThatFitAreNotCut() throws {
        let title = String(repeating: "语", count: 200)
        let json = try TestJSON(parsing: APNsPayload.json(Self.delivery(title: title, partner: title)))
        #expect(json["aps"]["alert"]["title"].string == title)
        #expect(json["partnerTask"].string == title)
    }
}
