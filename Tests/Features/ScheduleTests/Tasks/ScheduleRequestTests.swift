import Domain
import FoundationEssentials
import Testing

@testable import Schedule

@Suite struct ScheduleRequestTests {
    private let zones = TimeZoneNames(["UTC", "Europe/London"])

    private func task(_ json: String) throws(RequestError) -> TaskRequest {
        try TaskRequest.decode(Array(json.utf8), zones: zones)
    }

    /// The app's body with other values for some members. `nil` leaves a member out.
    private func body(_ changes: [String: String?] = [:]) -> String {
        var members: [String: String] = [
            "date": #""2026-11-22T00:00:00Z""#, "deviceId": #""d""#, "startTime": #""09:00""#, "title": #""History""#,
            "timeZone": #""Europe/London""#, "isSent": "false", "isPaired": "false", "debug": "false",
        ]
        for (name, value) in changes { members[name] = value }
        return "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }

    @Test("The app's body is parsed")
    func theAppsBodyIsUnderstood() throws {
        let request = try task(body())
        #expect(request.slot.device.text == "d")
        #expect(request.title == "History")
        #expect(request.slot.timeZone == "Europe/London")
        let time = try #require(WallTime("09:00"))
        #expect(request.slot.slot == .on(.midnight(Instant(seconds: 20_779 * 86_400)), time))
    }

    @Test("A plain date is accepted, in UTC unless a zone is given")
    func plainDateIsAcceptedInUTCUnlessZoneIsGiven() throws {
        let request = try task(body(["date": #""2026-11-22""#, "timeZone": nil]))
        #expect(request.slot.timeZone == "UTC")
        let time = try #require(WallTime("09:00"))
        #expect(request.slot.slot == .on(.date(CalendarDate(days: 20_779)), time))
    }

    @Test("startsAt replaces date and startTime")
    func startsatStandsForDateAndStartTime() throws {
        let request = try task(
            body(["date": nil, "startTime": nil, "startsAt": #""2026-11-22T10:00:00+01:00""#]))
        #expect(request.slot.slot == .at(Instant(seconds: 1_795_338_000)))
    }

    @Test("A zone in another case is spelled as IANA does")
    func aZoneInAnotherCaseIsSpelledAsIANADoes() throws {
        let zone = #""europe/LONDON""#
        #expect(try task(body(["timeZone": zone])).slot.timeZone == "Europe/London")
        let cancelled = try CancelRequest.decode(Array(body(["timeZone": zone]).utf8), zones: zones)
        #expect(cancelled == .slot(try task(body()).slot))
        let moved = try MoveRequest.decode(
            id: "E2F86CEB-4FBA-43E6-8FAC-C8BA5B5696F7", Array(body(["timeZone": zone]).utf8), zones: zones)
        #expect(moved.timeZone == "Europe/London")
        let accepted = try InvitationRequest.decode(
            token: String(repeating: "a", count: 32), Array(body(["timeZone": zone]).utf8), zones: zones)
        #expect(accepted.timeZone == "Europe/London")
        let series = try SeriesRequest.decode(
            Array(body(["timeZone": zone, "days": #"["mon"]"#]).utf8), zones: zones)
        #expect(series.timeZone == "Europe/London")
        let day = try ScheduleRequest(deviceId: "d", date: "2026-11-22", timeZone: "europe/LONDON", zones: zones)
        #expect(day.timeZone == "Europe/London")
    }

    @Test("The app's flags may be anything or missing", arguments: ["isSent", "isPaired", "debug"])
    func flagsOfTheAppMayBeAnythingOrMissing(member: String) throws {
        for value in ["1", "null", "\"x\"", "[{}]"] { _ = try task(body([member: value])) }
        _ = try task(body([member: nil]))
    }

    @Test("Members that the server doesn't know are ignored")
    func membersThatTheServerDoesntKnowAreIgnored() throws {
        _ = try task(body(["mood": #"{"a":[1,2,{"b":null}]}"#]))
    }

    @Test(
        "A title without a visible character is refused by its name",
        arguments: [
            "\u{200B}", "\u{202E}\u{2069}", "\u{3164}", "\u{2800} \u{2800}", "\u{FE0F}", "\u{1}", "\u{E0020}",
            "\u{FFFE}",
            "\u{AD}\u{34F}", "\u{2028}", "\u{1D159}", " \u{FEFF}\u{180E}\u{85}",
        ])
    func invisibleTitles(title: String) throws {
        let json = String(decoding: try JSONEncoder().encode(title), as: UTF8.self)
        let error = #expect(throws: RequestError.self) { try task(body(["title": json])) }
        #expect(error?.status == 400 && error?.code == "invalid_request" && error?.reason.hasPrefix("title ") == true)
        // A device's id may consist of invisible characters, because users never see it.
        if !title.unicodeScalars.allSatisfy(\.properties.isWhitespace) { _ = try task(body(["deviceId": json])) }
    }

    @Test(
        "A title with a visible character is accepted unchanged",
        arguments: [
            "\u{200B}A", "\u{202E}desserts", "שלום", "👩\u{200D}🎨", "\u{1FADF}", "\u{F8FF}", "\u{301}", "語", "-",
            "\u{2063}1",
        ])
    func visibleTitles(title: String) throws {
        let json = String(decoding: try JSONEncoder().encode(title), as: UTF8.self)
        #expect(try task(body(["title": json])).title.utf8.elementsEqual(title.utf8))
    }

    @Test("A missing member or one of the wrong type is named", arguments: ["deviceId", "title", "date", "startTime"])
    func missingMemberOrOneOfWrongTypeIsNamed(member: String) {
        for value in [nil, "7", "null", "true", "[]", "{}", #""""#, #"" \t\u00a0\u3000""#, #""a\u0000b""#] {
            let error = #expect(throws: RequestError.self) { try task(body([member: value])) }
            #expect(error?.status == 400)
            #expect(error?.code == "invalid_request")
            #expect(error?.reason.hasPrefix(member + " ") == true)
        }
    }

    @Test(
        "An invalid value is named",
        arguments: [
            ("timeZone", #""PST""#), ("timeZone", #""UTC+9""#), ("timeZone", "3"),
            ("timeZone", #""""#), ("timeZone", #""UTC\u0000""#), ("startTime", #""25:00""#),
            ("startsAt", #""2026-11-22T09:00:00.Z""#),
            ("startsAt", "1795338000"), ("date", #""99999-01-01T00:00:00Z""#),
        ])
    func invalidValueIsNamed(member: String, value: String) {
        let error = #expect(throws: RequestError.self) { try task(body([member: value])) }
        #expect(error?.code == "invalid_request")
        #expect(error?.reason.hasPrefix(member + " ") == true)
    }

    @Test("Lengths are counted in Unicode scalars")
    func lengthsAreCountedInUnicodeScalars() throws {
        // 100 flags, each of two Unicode scalars, have the maximum length.
        let flags = String(repeating: "🇬🇧", count: 100)
        _ = try task(body(["title": "\"\(flags)\""]))
        #expect(throws: RequestError.self) { try task(body(["title": "\"\(flags)x\""])) }
        _ = try task(body(["deviceId": "\"\(String(repeating: "d", count: 128))\""]))
        #expect(throws: RequestError.self) {
            try task(body(["deviceId": "\"\(String(repeating: "d", count: 129))\""]))
        }
    }

    @Test(
        "A body that isn't an object with the members is refused",
        arguments: ["", "{", "nonsense", "[]", "3", "null", "\"x\"", "{\"deviceId\":\"a\"", "\u{0}", "{}"])
    func bodyThatIsNotObjectWithMembersIsRefused(json: String) {
        let error = #expect(throws: RequestError.self) { try task(json) }
        #expect(error?.code == "invalid_request")
    }

    @Test(
        "JSON that only a lenient decoder accepts is refused",
        arguments: ["1,", "01", "1.", "-", "[1,]", "\"a\tb\"", #""\x""#, "1}\u{0}"])
    func jsonThatOnlyLenientDecoderAcceptsIsRefused(value: String) {
        let json = body()
        let error = #expect(throws: RequestError.self) { try task(json.dropLast() + ",\"mood\":\(value)}") }
        #expect(error?.reason == "The body must be valid JSON.")
    }

    @Test("A byte order mark before the JSON is ignored") func byteOrderMark() throws {
        #expect(try task("\u{FEFF}" + body()) == task(body()))
        #expect(throws: RequestError.self) { try task("\u{FEFF}\u{FEFF}" + body()) }
    }

    @Test("JSON in another encoding than UTF-8 is refused")
    func jsonInAnotherEncodingThanUTF8IsRefused() {
        let utf16 = body().utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        #expect(throws: RequestError.self) { try TaskRequest.decode(utf16, zones: zones) }
        #expect(throws: RequestError.self) { try TaskRequest.decode([0xFF, 0xFE] + utf16, zones: zones) }
    }

    @Test("Half a surrogate pair in a member is refused by its name")
    func halfASurrogatePairInAMemberNamesTheMember() {
        let error = #expect(throws: RequestError.self) { try task(body(["title": #""\ud800""#])) }
        #expect(error?.reason.hasPrefix("title ") == true)
    }

    @Test("Deep nesting is refused", arguments: ["[", "{\"a\":", "[{\"a\":"])
    func deepNestingIsRefusedNotFollowed(opening: String) {
        let deep = String(repeating: opening, count: 65_536 / opening.utf8.count)
        #expect(throws: RequestError.self) { try task(deep) }
        #expect(throws: RequestError.self) { try task(body(["mood": deep])) }
    }

    @Test("Invalid UTF-8 is refused")
    func invalidUTF8IsRefused() {
        #expect(throws: RequestError.self) {
            try TaskRequest.decode([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], zones: zones)
        }
    }

    @Test("Cancelling needs no title")
    func cancellingNeedsNoTitle() throws {
        let request = try CancelRequest.decode(Array(body(["title": nil]).utf8), zones: zones)
        #expect(request == .slot(try task(body()).slot))
        #expect(throws: RequestError.self) {
            try CancelRequest.decode(Array(body(["deviceId": nil]).utf8), zones: zones)
        }
    }

    @Test("A task's id ignores case")
    func tasksIdIgnoresCase() throws {
        let upper = try OwnTask(id: "E2F86CEB-4FBA-43E6-8FAC-C8BA5B5696F7", deviceId: "d")
        #expect(try OwnTask(id: "e2f86ceb-4fba-43e6-8fac-c8ba5b5696f7", deviceId: "d") == upper)
        // The last three are what `sscanf` reads as hexadecimal numbers.
        for id in [
            "e2f86ceb", "", "{e2f86ceb-4fba-43e6-8fac-c8ba5b5696f7}", "e2f86ceb-4fba-43e6-8fac-c8ba5b5696f70",
            "0xf86ceb-4fba-43e6-8fac-c8ba5b5696f7", "+2f86ceb-4fba-43e6-8fac-c8ba5b5696f7",
            " 2f86ceb-4fba-43e6-8fac-c8ba5b5696f7",
        ] {
            let error = #expect(throws: RequestError.self) { try OwnTask(id: id, deviceId: "d") }
            #expect(error?.reason.hasPrefix("id ") == true)
        }
        let error = #expect(throws: RequestError.self) {
            try OwnTask(id: "e2f86ceb-4fba-43e6-8fac-c8ba5b5696f7", deviceId: nil)
        }
        #expect(error?.reason.hasPrefix("deviceId ") == true)
    }

    @Test("A day is requested by a body or a query")
    func dayIsRequestedByBodyOrByQuery() throws {
        let byBody = try ScheduleRequest.decode(
            Array(#"{"deviceId":"d","date":"2026-11-22T00:00:00Z"}"#.utf8), zones: zones)
        let byQuery = try ScheduleRequest(
            deviceId: "d", date: "2026-11-22T00:00:00Z", timeZone: nil, zones: zones)
        #expect(byBody == byQuery)
        #expect(throws: RequestError.self) {
            try ScheduleRequest(deviceId: "d", date: nil, timeZone: nil, zones: zones)
        }
        #expect(throws: RequestError.self) {
            try ScheduleRequest(deviceId: "d", date: "2026-11-22", timeZone: "PST", zones: zones)
        }
    }
}
