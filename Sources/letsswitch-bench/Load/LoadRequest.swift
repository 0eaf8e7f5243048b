/// Requests as bytes.
enum LoadRequest {
    static func get(_ target: String) -> [UInt8] {
        Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
    }

    static func post(_ target: String, json: String) -> [UInt8] {
        Array("POST \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(json.utf8.count)\r\n\r\n\(json)".utf8)
    }

    /// A registration for an instant, as epoch seconds.
    static func task(device: String, startsAt: Int) -> [UInt8] {
        post("/task", json: #"{"deviceId":"\#(device)","title":"History","startsAt":"\#(UTCText.instant(startsAt))"}"#)
    }
}

/// Instants and dates in UTC as they are written (Howard Hinnant's civil_from_days).
enum UTCText {
    static let day = 86_400

    /// `2026-11-22`
    static func date(_ epoch: Int) -> String {
        let days = epoch / day + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return "\(year)-\(two(month))-\(two(dayOfYear - (153 * shifted + 2) / 5 + 1))"
    }

    /// `2026-11-22T09:00:00Z`
    static func instant(_ epoch: Int) -> String {
        let second = epoch % day
        return "\(date(epoch))T\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60))Z"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
