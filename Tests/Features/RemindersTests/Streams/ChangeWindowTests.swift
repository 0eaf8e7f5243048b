import Domain
import Testing

@testable import Reminders

@Suite struct ChangeWindowTests {
    private let now = Instant(seconds: 1_795_338_000)

    @Test("The window is near without parameters, and the given period with both")
    func parsing() throws {
        #expect(try ChangeWindow(from: nil, to: nil) == .near)
        let window = try ChangeWindow(from: "2026-11-22T01:00:00+01:00", to: "2026-11-23T00:00:00Z")
        #expect(window == .between(Instant(seconds: 1_795_305_600), Instant(seconds: 1_795_392_000)))
        #expect(window.days == 20_779..<20_780)
    }

    @Test(
        "An invalid period is refused with the name of its parameter",
        arguments: [
            ("2026-11-22T00:00:00Z", nil, "to"), (nil, "2026-11-22T00:00:00Z", "from"),
            ("2026-11-22", "2026-11-23T00:00:00Z", "from"), ("2026-11-22T00:00:00Z", "soon", "to"),
            ("2026-11-22T00:00:00Z", "2026-11-22T00:00:00Z", "to"),
            ("2026-11-23T00:00:00Z", "2026-11-22T00:00:00Z", "to"),
            ("2026-11-22T00:00:00Z", "2026-12-24T00:00:01Z", "to"),
            ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "to"),
        ] as [(String?, String?, String)])
    func refusals(from: String?, to: String?, member: String) {
        let error = #expect(throws: RequestError.self) { try ChangeWindow(from: from, to: to) }
        #expect(error?.status == 400 && error?.code == "invalid_request")
        #expect(error?.reason.hasPrefix("\(member) ") == true)
    }

    @Test("The window selects a range of sorted slots")
    func ranges() {
        let slots = [-86_401, -86_400, 0, 172_799, 172_800].map { Instant(seconds: now.seconds + $0) }
        #expect(ChangeWindow.near.range(in: slots, at: now) == 1..<4)
        #expect(slots.map { ChangeWindow.near.contains($0, at: now) } == [false, true, true, true, false])
        let window = ChangeWindow.between(slots[2], slots[3])
        #expect(window.range(in: slots, at: now) == 2..<3)
        #expect(window.range(in: [], at: now).isEmpty)
        #expect(ChangeWindow.between(Instant(seconds: 1), Instant(seconds: 2)).range(in: slots, at: now).isEmpty)
    }
}
