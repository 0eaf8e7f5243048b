/// A start in the server's format: an instant, or a day and a time by the wall clock (`2026-11-22`, `09:00`).
package enum WrittenTime: Sendable, Hashable {
    case instant(String)
    case clock(day: String, time: String)

    func members(_ timeZone: String) -> [String: String] {
        switch self {
        case .instant(let text): ["startsAt": text, "timeZone": timeZone]
        case .clock(let day, let time): ["date": day, "startTime": time, "timeZone": timeZone]
        }
    }
}
