package import Domain
package import FoundationEssentials
package import Wire

/// A device's day in order of time.
package struct ScheduleResponse: Hashable, Sendable {
    package struct Slot: Hashable, Sendable {
        /// The start as a time of day in the day's time zone, such as `09:00`.
        package let key: String
        /// The id of the device's own task. Random for a slot without one.
        package let id: UUID
        package let title: String
        package let hasOwnTask: Bool
        package let hasSomebodyElse: Bool
        package let partnerTask: String?
        package let roomId: UUID?
    }

    package let slots: [Slot]

    /// The format that the app decodes: keys and values alternate, as Codable writes a dictionary whose keys are an
    /// enum.
    package var alternatingJSON: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.name("schedule")
            object.array { array in
                for slot in slots {
                    array.string(slot.key)
                    slot.write(to: &array)
                }
            }
        }
        return json.bytes
    }

    /// The day as a JSON object.
    package var keyedJSON: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.name("schedule")
            object.object { day in
                for slot in slots {
                    day.name(slot.key)
                    slot.write(to: &day)
                }
            }
        }
        return json.bytes
    }
}

extension ScheduleResponse.Slot {
    package func write(to json: inout JSONText) {
        json.object { object in
            object.member("id", id.text)
            object.member("title", title)
            object.member("hasOwnTask", hasOwnTask)
            object.member("hasSomebodyElse", hasSomebodyElse)
            object.member("partnerTask", partnerTask)
            object.member("roomId", roomId?.text)
        }
    }
}

/// The result of a request for a day.
package enum ScheduleOutcome: Hashable, Sendable {
    case day(ScheduleResponse)
    case refused(RequestError)
}
