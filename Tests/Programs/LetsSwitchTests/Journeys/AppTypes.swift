import Foundation

/// The types that the developer of the iOS app would write, and nothing more. The server has to fit them.
enum App {
    /// The sixteen sessions of a day. A dictionary with these keys is coded as an array of keys and values.
    enum Session: String, Codable, CaseIterable {
        case eight = "08:00"
        case nine = "09:00"
        case ten = "10:00"
        case eleven = "11:00"
        case twelve = "12:00"
        case thirteen = "13:00"
        case fourteen = "14:00"
        case fifteen = "15:00"
        case sixteen = "16:00"
        case seventeen = "17:00"
        case eighteen = "18:00"
        case nineteen = "19:00"
        case twenty = "20:00"
        case twentyOne = "21:00"
        case twentyTwo = "22:00"
        case twentyThree = "23:00"
    }

    struct Slot: Codable, Identifiable {
        let id: UUID
        let title: String
        let hasOwnTask: Bool
        let hasSomebodyElse: Bool
        let partnerTask: String?
        let roomId: UUID?
    }

    struct DayRequest: Encodable {
        let deviceId: String
        let date: Date
    }

    struct Day: Decodable {
        let schedule: [Session: Slot]
    }

    struct Token: Encodable {
        let deviceId: String
        let token: String
        let debug: Bool
    }

    /// The body that registers a task. With its `socketId` it cancels the task.
    struct Task: Encodable {
        let date: Date
        let deviceId: String
        let startTime: Session
        let title: String
        var timeZone: String?
        var isSent = false
        var isPaired = false
        var debug = false
        var socketId: String?
    }

    struct Message: Codable, Equatable {
        let type: String
        var id: String?
    }

    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return Array(try encoder.encode(value))
    }
}
