import Domain
import Foundation
import Testing

@testable import Schedule

@Suite struct ScheduleResponseTests {
    private let id = UUID(uuid: (0xAB, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))

    /// The types that an iOS developer would write.
    private struct Schedule: Decodable {
        struct Slot: Decodable {
            let id: UUID
            let title: String
            let hasOwnTask: Bool
            let hasSomebodyElse: Bool
            let partnerTask: String?
            let roomId: UUID?
        }
        let schedule: [Key: Slot]
        enum Key: String, Decodable {
            case eight = "08:00"
            case nine = "09:00"
        }
    }

    private var day: ScheduleResponse {
        ScheduleResponse(slots: [
            .init(
                key: "08:00", id: id, title: "", hasOwnTask: false, hasSomebodyElse: true, partnerTask: nil, roomId: nil
            ),
            .init(
                key: "09:00", id: id, title: "Hi\"\\\n\u{1}é🇬🇧", hasOwnTask: true, hasSomebodyElse: true,
                partnerTask: "Maths", roomId: id),
        ])
    }

    @Test("A day decodes as a dictionary with enum keys")
    func dayDecodesAsDictionaryWithEnumKeys() throws {
        let decoded = try JSONDecoder().decode(Schedule.self, from: Data(day.alternatingJSON)).schedule
        #expect(decoded.count == 2)
        #expect(decoded[.eight]?.hasSomebodyElse == true)
        #expect(decoded[.eight]?.roomId == nil)
        #expect(decoded[.nine]?.title == "Hi\"\\\n\u{1}é🇬🇧")
        #expect(decoded[.nine]?.partnerTask == "Maths")
        #expect(decoded[.nine]?.roomId == id)
    }

    @Test("A day for other clients is an object in order of time")
    func dayForOtherClientsIsObjectInOrderOfTime() {
        let text = String(decoding: day.keyedJSON, as: UTF8.self)
        #expect(
            text.hasPrefix(
                #"{"schedule":{"08:00":{"id":"AB000000-0000-0000-0000-000000000001","title":"","hasOwnTask":false,"#
                    + #""hasSomebodyElse":true},"09:00":{"id":"#))
    }

    @Test("A task has the documented members in order, without absent ones")
    func taskHasDocumentedMembersInOrder() {
        let task = TaskResponse(
            id: id, device: DeviceID(stored: "d"), title: "History", startTime: "09:00", timeZone: "Europe/London",
            startsAt: Instant(seconds: 1_795_338_000), remindsAt: Instant(seconds: 1_795_337_940), isPaired: false,
            partnerTitle: nil, socketId: id)
        #expect(
            String(decoding: task.json, as: UTF8.self)
                == #"{"id":"AB000000-0000-0000-0000-000000000001","deviceId":"d","title":"History","startTime":"09:00","#
                + #""timeZone":"Europe/London","startsAt":"2026-11-22T09:00:00Z","remindsAt":"2026-11-22T08:59:00Z","#
                + #""isPaired":false,"socketId":"AB000000-0000-0000-0000-000000000001"}"#)
    }

    @Test("An error has Vapor's form and a code")
    func errorHasVaporsFormAndCode() {
        let error = RequestError.invalid("title", "must not be blank")
        #expect(
            String(decoding: error.json, as: UTF8.self)
                == #"{"error":true,"code":"invalid_request","reason":"title must not be blank."}"#)
    }
}
