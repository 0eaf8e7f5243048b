import Foundation
import JourneyTestSupport
import TestSupport
import Testing

@testable import LetsSwitch
@testable import Schedule

/// Text that is equal by one comparison and different by another, and foreign notifications on the database's channels.
@Suite struct ForeignTextTests {
    /// `é` as one scalar and as two. Both are the same `String`, but two devices.
    private let composed = (id: "caf\u{E9}", encoded: "caf%C3%A9")
    private let decomposed = (id: "cafe\u{301}", encoded: "cafe%CC%81")

    @Test("Devices whose ids differ only in their bytes are separate")
    func equivalentDevices() async throws {
        try await Journey.run { journey in
            let (one, other) = (try await journey.daemon(), try await journey.daemon())
            let start = try await journey.instant(in: 3600)
            try await one.register(composed.id, start, "Art")
            #expect(try await one.register(decomposed.id, start, "Maths").isPaired)
            let streams = [
                try await one.reminders(of: composed.encoded), try await one.reminders(of: decomposed.encoded),
                try await other.reminders(of: composed.encoded), try await other.reminders(of: decomposed.encoded),
            ]
            try await one.register(composed.id, start, "Poetry")
            for stream in streams { #expect(try await stream.nextChange() == "\(start)") }
            try await journey.advance(to: start, -60)
            let titles = try await streams.asyncMap { try await $0.nextReminder().title }
            #expect(titles == ["Poetry", "Maths", "Poetry", "Maths"])
        }
    }

    @Test("Foreign notifications on the database's channels don't disturb the daemon")
    func notifications() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            let ada = try await endpoint.reminders(of: "ada")
            let numbers = ["\(Int.min)", "\(Int.max)", "-1", "1e300", "-1e300", "inf", "-inf", "nan", "0x1p1023", "-0"]
            let notices = ["\(Int.min)", "\(Int.max)", "9e18", "1e300", "-62135596801", "253402300800"].flatMap {
                [
                    #"{"origin":"","changes":[{"startsAt":\#($0),"devices":[],"all":true}]}"#,
                    #"{"origin":"","changes":[{"startsAt":\#($0),"devices":["ada"],"all":false}]}"#,
                    #"{"origin":"","changes":{"ada":\#($0)}}"#,
                ]
            }
            let others = [
                "", "\u{FEFF}7", "[]", "{}", "{", #"{"origin":null}"#, "\(UUID()) \(UUID())", "-1 -1 -1", "bob",
            ]
            for channel in NotificationDispatch.channels(of: DaemonFeatures.types) {
                for payload in numbers + notices + others {
                    try await journey.sql("SELECT pg_notify('\(channel)', '\(payload)')")
                }
            }
            try await endpoint.register("ada", start)
            #expect(try await ada.nextChange() == "\(start)")
            try await journey.advance(to: start, -60)
            #expect(try await ada.nextReminder().title == "History")
        }
    }
}
