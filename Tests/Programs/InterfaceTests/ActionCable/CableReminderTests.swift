import Domain
import Foundation
import JourneyTestSupport
import ScheduleTestSupport
import Server
import Settings
import TestSupport
import Testing

@testable import Reminders
@testable import Schedule

/// A device's channels on `/cable`, in the database's own time.
@Suite struct CableReminderTests {
    private let reminders = #"{"channel":"RemindersChannel"}"#
    private let notifications = #"{"channel":"NotificationsChannel"}"#

    @Test(
        "A reminder arrives when due or as backlog, and counts as delivered"
    )
    func journey() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            let peer = try await CablePeer.welcomed(at: endpoint, "?deviceId=ada")
            try await peer.enter(notifications)
            let room = try await endpoint.pair("ada", "bob", start)
            for _ in 0..<2 {
                let change = try await peer.receiveMessage(of: notifications)
                #expect(change.type == "schedule" && change.data == ["startsAt": .string("\(start)")])
            }
            let identifier = CablePeer.room(room)
            try await peer.subscribe(identifier)
            #expect(try await peer.receive() == CablePeer.rejection(identifier))

            try await peer.enter(reminders)
            try await journey.advance(to: start, -59)
            var fired: [String: TestJSON] = [:]
            while fired.count < 2 {
                let message = try TestJSON(parsing: Array(try await peer.receive().utf8))
                // The slot has also closed for others, which the stream reports too.
                guard message["message"]["type"] == "reminder", let name = message["identifier"].string else {
                    continue
                }
                fired[name] = message["message"]["data"]
            }
            let reminder = try #require(fired[reminders])
            #expect(fired[notifications] == reminder)
            #expect(reminder["type"] == "reminder" && reminder["title"] == "History")
            #expect(reminder["roomId"].string == room.uuidString && reminder["partnerTask"] == "Maths")
            try await journey.wait(
                until: "SELECT state = 'delivered' FROM reminders.reminder WHERE id = '\(reminder["id"].string ?? "")'"
            )

            // On another connection the reminder comes once, in the backlog.
            let again = try await CablePeer.welcomed(at: endpoint)
            let named = #"{"channel":"RemindersChannel","deviceId":"ada"}"#
            try await again.enter(named)
            let backlog = try await again.receiveMessage(of: named)
            #expect(backlog.type == "reminder" && backlog.data == reminder)
            try await again.expectNothing()

            try await again.enter(identifier)
            try await again.unsubscribe(named)
            try await journey.advance(to: start, 3601)
            let end = try await again.receiveMessage(of: identifier)
            #expect(end.type == "closed" && end.data == .object([:]))
            try await again.subscribe(identifier)
            #expect(try await again.receive() == CablePeer.rejection(identifier))
        }
    }

    @Test("A subscription that is taken back at once uses no place")
    func takenBack() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.reminders.maxStreamsPerDevice = 1 }
            let peer = try await CablePeer.welcomed(at: endpoint, "?deviceId=ada")
            for _ in 0..<4 {
                try await peer.subscribe(reminders)
                try await peer.unsubscribe(reminders)
            }
            try await eventually("the place is given back") {
                try await peer.subscribe(notifications)
                while true {
                    let answer = try await peer.receive()
                    if answer == CablePeer.confirmation(notifications) { return true }
                    if answer == CablePeer.rejection(notifications) { return false }
                }
            }
        }
    }

    @Test("The limit of streams per device counts event streams and subscriptions together")
    func quota() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.reminders.maxStreamsPerDevice = 2 }
            let peer = try await CablePeer.welcomed(at: endpoint, "?deviceId=ada")
            try await peer.enter(reminders)
            let stream = try await endpoint.reminders(of: "ada")
            try await peer.subscribe(notifications)
            #expect(try await peer.receive() == CablePeer.rejection(notifications))
            #expect(try await endpoint.get("/reminders?deviceId=ada").status == 429)
            try await peer.unsubscribe(reminders)
            try await peer.expectNothing()
            try await eventually("its place is given back") {
                try await peer.subscribe(notifications)
                return try await peer.receive() == CablePeer.confirmation(notifications)
            }
            await stream.connection.close()
        }
    }

    @Test("A backlog larger than a connection's queue arrives completely")
    func backlog() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemonOnUnixSocket { $0.schedule.reminderLead = .seconds(1800) }
            let start = try await journey.instant(in: 7200)
            let store = ScheduleStore(
                database: journey.client, settings: ScheduleSettings(reminderLead: 1800, maxTasksPerDevice: 500))
            let title = String(repeating: "\u{1F37A}", count: 200)
            for number in 0..<400 {
                let slot = Instant(seconds: start.seconds + number)
                _ = try await store.register(try ScheduleDatabase.request("ada", "\(slot)", title, zone: "UTC"))
            }
            try await journey.advance(to: Instant(seconds: start.seconds + 400), -1800)
            try await journey.wait(until: "(SELECT count(*) FROM reminders.reminder) = 400")
            let peer = try await CablePeer.welcomed(at: endpoint, "?deviceId=ada")
            try await peer.enter(reminders)
            _ = try await MetricsReading.wait(at: endpoint) {
                $0["letsswitch_messages_sent_total"] >= 100
            }
            var received: Set<String> = []
            while received.count < 400 {
                received.insert(try #require(try await peer.receiveMessage(of: reminders).data["id"].string))
            }
            try await journey.wait(until: "(SELECT bool_and(state = 'delivered') FROM reminders.reminder)")
        }
    }
}
