import Domain

@testable import LetsSwitch

/// The requests of an input, one on each line:
///
/// ```
/// POST /task {"deviceId":"a","startsAt":"@1","title":"x"}
/// GET /reminders?deviceId=a
/// NOTIFY letsswitch_schedule {"origin":""}
/// ```
/// Lines of another form are skipped. In a target and in a body `@0` to `@9` are full hours in the future, `@d` is the
/// day of the first, `@t` is the last `id` in an answer, and `@c` and `@i` are the calendar and the invitation in the
/// last answer with one.
struct ScheduleScript {
    enum Step {
        case request(method: String, target: [UInt8], body: [UInt8])
        case notify(channel: String, payload: String)
    }

    static let maxSteps = 24
    private static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]

    let steps: [Step]

    init(_ content: [UInt8]) {
        steps = content.split(separator: UInt8(ascii: "\n")).compactMap(Self.step).prefix(Self.maxSteps).map(\.self)
    }

    private static func step(_ line: ArraySlice<UInt8>) -> Step? {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard parts.count >= 2 else { return nil }
        let name = String(decoding: parts[0], as: UTF8.self)
        let rest = parts.count > 2 ? Array(parts[2]) : []
        guard name == "NOTIFY" else {
            guard methods.contains(name), parts[1].first == UInt8(ascii: "/") else { return nil }
            return .request(method: name, target: Array(parts[1]), body: rest)
        }
        let channel = String(decoding: parts[1], as: UTF8.self)
        // PostgreSQL's text can't contain a zero byte.
        guard NotificationDispatch.channels(of: DaemonFeatures.types).contains(channel), !rest.contains(0) else {
            return nil
        }
        return .notify(channel: channel, payload: String(decoding: rest, as: UTF8.self))
    }
}

/// The values of `@` in a script.
struct ScheduleNames {
    /// The first of the full hours, in seconds since 1970.
    let firstHour: Int
    var id: [UInt8] = Array("00000000-0000-0000-0000-000000000000".utf8)
    var calendar: [UInt8] = Array("/calendar/AAAAAAAAAAAAAAAAAAAAAAAA.ics".utf8)
    var invitation: [UInt8] = Array("/invitations/AAAAAAAAAAAAAAAAAAAAAAAA".utf8)

    func fill(_ bytes: [UInt8]) -> [UInt8] {
        var filled: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "@"), let name = rest.first, let value = value(name) else {
                filled.append(byte)
                continue
            }
            rest.removeFirst()
            filled += value
        }
        return filled
    }

    private func value(_ name: UInt8) -> [UInt8]? {
        switch name {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            Array("\(Instant(seconds: firstHour + 3600 * Int(name - UInt8(ascii: "0"))))".utf8)
        case UInt8(ascii: "d"): Array("\(Instant(seconds: firstHour))".utf8.prefix(10))
        case UInt8(ascii: "t"): id
        case UInt8(ascii: "c"): calendar
        case UInt8(ascii: "i"): invitation
        default: nil
        }
    }
}
