import Domain
import FoundationEssentials
import TestSupport
import Testing

@Suite struct ReminderContentTests {
    private func content(_ title: String, room: UUID? = nil, partner: String? = nil) -> ReminderContent {
        ReminderContent(
            id: UUID(uuidString: "00000000-0001-8000-BBC9-A4EFF1D431E2") ?? UUID(),
            taskId: UUID(uuidString: "4294EB43-D59F-4C87-BBC9-A4EFF1D431E2") ?? UUID(), title: title,
            startsAt: Instant(seconds: 1_795_338_000), startTime: "10:00", timeZone: "Europe/Prague", roomId: room,
            partnerTask: partner)
    }

    @Test("The JSON has the documented members in order, without unknown values")
    func members() {
        let start =
            #"{"type":"reminder","id":"00000000-0001-8000-BBC9-A4EFF1D431E2","taskId":"4294EB43-D59F-4C87-BBC9-A4EFF1D431E2","title":"History","startsAt":"2026-11-22T09:00:00Z","startTime":"10:00","timeZone":"Europe/Prague""#
        #expect(content("History").json == start + "}")
        let room = UUID()
        #expect(content("History", room: room).json == start + #","roomId":"\#(room.uuidString)"}"#)
        #expect(
            content("History", room: room, partner: "Maths").json
                == start + #","roomId":"\#(room.uuidString)","partnerTask":"Maths"}"#)
    }

    @Test(
        "Any text stays on one line, and is read back unchanged",
        arguments: ["\"\\\u{1}", "a\nb\r\tc\u{2028}", "žluť 🍺"])
    func text(_ title: String) throws {
        let json = content(title, partner: title).json
        #expect(!json.utf8.contains { $0 < 0x20 })
        let read = try TestJSON(parsing: Array(json.utf8))
        #expect(read["title"].string == title && read["partnerTask"].string == title)
    }
}
