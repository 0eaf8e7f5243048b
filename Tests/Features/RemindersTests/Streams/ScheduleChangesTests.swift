import Domain
import FoundationEssentials
import TestSupport
import Testing

@testable import Schedule

/// Changes that one daemon's registrations publish to all daemons' streams, without a database.
@Suite struct ScheduleChangesTests {
    private let ada = DeviceID(stored: "ada")
    private let bob = DeviceID(stored: "bob")

    private static func slot(_ seconds: Int) -> Instant {
        Instant(seconds: Int(Date().timeIntervalSince1970) / 60 * 60 + 3600 + seconds)
    }

    private func event(_ slot: Instant) -> String { "event: schedule\ndata: {\"startsAt\":\"\(slot)\"}\n\n" }

    @Test("Streams on both daemons are notified once")
    func twoDaemons() async throws {
        try await RecordedStreams.run { one in
            try await RecordedStreams.run { other in
                let listening = ScheduleChanges(audience: other.streams, origin: "other") { _ in }
                let notices = EventRecorder<String>()
                let publishing = ScheduleChanges(audience: one.streams, origin: "one") { payload in
                    notices.append(payload)
                    await listening.receive(payload)
                }
                let subscribers = [
                    try await one.open("ada"), try await one.open("cleo"), try await other.open("ada"),
                    try await other.open("cleo"),
                ]
                let slot = Self.slot(0)
                await publishing.publish(ScheduleChange(startsAt: slot, devices: [ada, bob], slotOpened: false))
                for subscriber in subscribers {
                    try await subscriber.next("the change") { [expected = event(slot)] in $0 == expected }
                }
                // A change that concerns only the two devices.
                let title = Self.slot(1)
                await publishing.publish(ScheduleChange(startsAt: title, devices: [ada], slotOpened: nil))
                for subscriber in [subscribers[0], subscribers[2]] {
                    try await subscriber.next("the title") { [expected = event(title)] in $0 == expected }
                }
                // A daemon also receives its own notifications, and ignores them.
                for payload in notices.all { await publishing.receive(payload) }
                let last = Self.slot(2)
                await publishing.slotsChanged([last])
                for subscriber in subscribers {
                    try await subscriber.next("the last change") { [expected = event(last)] in $0 == expected }
                }
                #expect(subscribers.map { RecordedStreams.events($0).count } == [3, 2, 3, 2])
            }
        }
    }

    @Test("Two changes of a slot for different users are sent to both")
    func gathering() {
        let slot = Self.slot(0)
        var gathered = GatheredChanges()
        gathered.add(GatheredChange(slot: slot, devices: [ada], concernsAll: true))
        #expect(gathered.takeAll() == [slot: [ada]])
        gathered.add(GatheredChange(slot: slot, devices: [ada], concernsAll: true))
        gathered.add(GatheredChange(slot: slot, devices: [ada], concernsAll: false))
        #expect(gathered.takeAll() == [slot: [ada]])
        gathered.add(GatheredChange(slot: slot, devices: [ada], concernsAll: true))
        gathered.add(GatheredChange(slot: slot, devices: [bob], concernsAll: true))
        #expect(gathered.takeAll() == [slot: []] && gathered.isEmpty)
        // Both changes know that Ada's device is up to date, and only the second knows that of Bob's.
        gathered.add(GatheredChange(slot: slot, devices: [ada], concernsAll: true))
        gathered.add(GatheredChange(slot: slot, devices: [bob, ada], concernsAll: true))
        #expect(gathered.takeAll() == [slot: [ada]])
        for number in 0..<100 {
            gathered.add(GatheredChange(slot: slot, devices: [DeviceID(stored: "\(number)")], concernsAll: false))
        }
        let crowded = gathered.takeOne()
        #expect(crowded?.devices.count == GatheredChanges.devicesPerSlot && crowded?.concernsAll == true)
        for number in 0..<20_000 {
            gathered.add(GatheredChange(slot: Self.slot(number), devices: [], concernsAll: true))
        }
        #expect(gathered.takeAll().count == GatheredChanges.limit)
    }

    @Test("Notifications use PostgreSQL's limit of bytes, and all changes arrive")
    func notices() throws {
        var gathered = GatheredChanges()
        var expected: [Instant: Set<DeviceID>] = [:]
        let names = ["caf\u{E9}", "cafe\u{301}", "\"\\\u{1}", String(repeating: "\u{1F37A}", count: 128)]
        for number in 0..<300 {
            let devices = [DeviceID(stored: names[number % 4]), DeviceID(stored: "device \(number)")]
            gathered.add(GatheredChange(slot: Self.slot(number), devices: devices, concernsAll: true))
            expected[Self.slot(number)] = Set(devices)
        }
        var received: [Instant: Set<DeviceID>] = [:]
        while let notice = ChangeNotice.take(from: &gathered, origin: "one") {
            #expect(notice.utf8.count < 8000)
            #expect(ChangeNotice.decode(notice, unlessFrom: "one") == nil)
            for change in try #require(ChangeNotice.decode(notice, unlessFrom: "other")) {
                #expect(change.concernsAll && change.known == change.devices)
                received[change.slot] = Set(change.devices)
            }
        }
        #expect(received == expected)
        // If the devices don't fit into a notification, it is sent without them.
        let many = (0..<16).map { DeviceID(stored: String(repeating: "\u{1F37A}", count: 126) + "\($0)") }
        gathered.add(GatheredChange(slot: Self.slot(0), devices: many, concernsAll: false))
        let notice = try #require(ChangeNotice.take(from: &gathered, origin: "one"))
        #expect(
            ChangeNotice.decode(notice, unlessFrom: "other")
                == [GatheredChange(slot: Self.slot(0), devices: [], concernsAll: true)])
        for text in [
            "", "{}", "[]", #"{"origin":"x","changes":[{"startsAt":1e300}]}"#, #"{"origin":null,"changes":[]}"#,
        ] {
            #expect(ChangeNotice.decode(text, unlessFrom: "other") == nil)
        }
    }
}
