import Domain
import FoundationEssentials
import LetsSwitch
import Notifications
import Wire

@testable import Schedule

/// The bodies of requests with their dates and times: accepted bodies are JSON, and mean the same to a simple parser.
enum RequestProperties {
    private static let zones = TimeZoneNames(["UTC", "Europe/London"])

    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        if input.option(3) {
            try checkTimes(String(decoding: input.content, as: UTF8.self))
            return
        }
        switch understand(input.content, kind: input.options & 3) {
        case .success(let members):
            try checkMembers(members, of: input.content)
        case .failure(let error):
            try require(error.status == 400 && error.code == "invalid_request", "refused with \(error)")
            try require(!error.reason.utf8.contains(0), "a NUL in the reason")
        }
    }

    /// A request's members as text, if the request has them in that form.
    private struct Members {
        var texts: [String: String]
        var slot: RequestedSlot?
        var day: RequestedDay?
    }

    private static func understand(_ body: [UInt8], kind: UInt8) -> Result<Members, RequestError> {
        Result { () throws(RequestError) in
            switch kind {
            case 0:
                let request = try TaskRequest.decode(body, zones: zones)
                return Members(
                    texts: ["title": request.title, "deviceId": request.slot.device.text], slot: request.slot.slot)
            case 1:
                guard case .slot(let slot) = try CancelRequest.decode(body, zones: zones) else {
                    return Members(texts: [:])
                }
                return Members(texts: ["deviceId": slot.device.text], slot: slot.slot)
            case 2:
                let request = try ScheduleRequest.decode(body, zones: zones)
                return Members(texts: ["deviceId": request.device.text], day: request.day)
            default:
                let request = try TokenRequest.decode(body)
                return Members(texts: ["deviceId": request.device.text])
            }
        }
    }

    private static func checkMembers(_ members: Members, of body: [UInt8]) throws(BrokenProperty) {
        guard let tree = PlainJSON(body, depth: JSONSyntax.maximumDepth) else {
            throw BrokenProperty("what is taken is no JSON")
        }
        try require(!members.texts.isEmpty, "a request that says nothing")
        for (name, text) in members.texts {
            let scalars = text.unicodeScalars
            try require(!scalars.isEmpty && scalars.count <= 200 && !scalars.contains("\0"), "\(name) is \(text)")
            let plain = tree.text(name)
            let isSame = plain.text?.utf8.elementsEqual(text.utf8) == true
            try require(isSame || !plain.isUnique, "\(name) is \(text), where a plain reading finds \(plain)")
        }
        for name in ["date", "startTime", "startsAt"] where !tree.text(name).isUnique { return }
        if let slot = members.slot { try checkSlot(slot, tree) }
        if let day = members.day {
            try require(tree.text("date").text.flatMap { RequestedDay($0) } == day, "another day than sent: \(day)")
        }
    }

    private static func checkSlot(_ slot: RequestedSlot, _ tree: PlainJSON) throws(BrokenProperty) {
        switch slot {
        case .at(let instant):
            let plain = tree.text("startsAt").text.flatMap(PlainTimes.instant)
            try require(plain == instant.seconds, "startsAt is \(instant), not \(String(describing: plain))")
        case .on(let day, let time):
            let plain = tree.text("startTime").text.flatMap(PlainTimes.wallTime)
            try require(plain == time.seconds, "startTime is \(time), not \(String(describing: plain))")
            try require(tree.text("date").text.flatMap { RequestedDay($0) } == day, "another day than sent: \(day)")
        }
    }

    private static func checkTimes(_ text: String) throws(BrokenProperty) {
        let instant = Instant(text)
        try require(instant?.seconds == PlainTimes.instant(text), "an instant: \(String(describing: instant))")
        let date = CalendarDate(text)
        try require(date?.days == PlainTimes.date(text), "a date: \(String(describing: date))")
        let time = WallTime(text)
        try require(time?.seconds == PlainTimes.wallTime(text), "a time: \(String(describing: time))")
        if let date {
            try require("\(date)" == text && RequestedDay(text) == .date(date), "\(text) is written as \(date)")
        }
        if let instant {
            try require(RequestedDay(text) == .midnight(instant), "\(text) is another day")
            // An instant with an offset may have a year that our format can't write.
            let again = Instant("\(instant)")
            let years = -62_135_596_800...253_402_300_799
            try require(again == instant || !years.contains(instant.seconds), "\(text) is written as \(instant)")
        }
        try require([instant != nil, date != nil, time != nil].count(where: \.self) <= 1, "\(text) is two things")
    }
}
