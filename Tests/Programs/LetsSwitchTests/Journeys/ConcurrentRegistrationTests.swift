import Domain
import Foundation
import JourneyTestSupport
import Postgres
import Settings
import TestSupport
import Testing

@Suite struct ConcurrentRegistrationTests {
    /// Does `work` for each element, on `count` connections at once. Each connection is reused.
    private func onConnections<Element: Sendable, Result: Sendable>(
        _ count: Int, to endpoint: ClientEndpoint, _ elements: [Element],
        _ work: @escaping @Sendable (HTTPTestClient, Element) async throws -> Result
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: [Result].self) { group in
            for lane in 0..<count {
                let share = stride(from: lane, to: elements.count, by: count).map { elements[$0] }
                group.addTask {
                    let client = try await HTTPTestClient.connect(to: endpoint)
                    defer { Task { await client.close() } }
                    return try await share.asyncMap { try await work(client, $0) }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    @Test(
        "Devices that register for one slot at once are all matched, except an odd one",
        arguments: [400, 401])
    func oneSlot(_ count: Int) async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.postgres.maxConnections = 8 }
            let start = try await journey.instant(in: 7200)
            let devices = (0..<count).map { "device-\($0)" }
            let register = { @Sendable (client: HTTPTestClient, device: String) in
                try await client.request(
                    "POST", "/task", json: ClientEndpoint.task(device, start, "Title of \(device)"))
            }
            let created = try await onConnections(50, to: endpoint, devices, register)
            #expect(created.allSatisfy { $0.status == 201 })
            // A repeated registration returns the final state of the task.
            let repeated = try await onConnections(50, to: endpoint, devices, register)
            #expect(repeated.allSatisfy { $0.status == 200 })
            let tasks = try repeated.map { try $0.decode(RegisteredTask.self) }
            #expect(Set(tasks.map(\.id)) == Set(try created.map { try $0.decode(RegisteredTask.self).id }))
            #expect(tasks.filter { !$0.isPaired }.count == count % 2)
            let rooms = Dictionary(grouping: tasks.filter(\.isPaired), by: \.socketId)
            #expect(rooms.count == count / 2)
            for pair in rooms.values {
                try #require(pair.count == 2)
                #expect(pair[0].deviceId != pair[1].deviceId)
                #expect(pair[0].partnerTitle == "Title of \(pair[1].deviceId)")
                #expect(pair[1].partnerTitle == "Title of \(pair[0].deviceId)")
            }
            let metrics = try await MetricsReading(endpoint)
            #expect(metrics["letsswitch_pairs_total"] == Double(count / 2))
            #expect(metrics[#"letsswitch_tasks_total{outcome="registered"}"#] == Double(count))
            #expect(metrics[#"letsswitch_tasks_total{outcome="repeated"}"#] == Double(count))
        }
    }

    @Test("A cancellation during matching leaves the other device either alone or matched")
    func cancelling() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let first = try await journey.instant(in: 7200)
            let slots = (0..<60).map { Instant(seconds: first.seconds + $0) }
            _ = try await onConnections(10, to: endpoint, slots) { client, slot in
                try await client.request("POST", "/task", json: ClientEndpoint.task("ada", slot, "History"))
            }
            async let cancellations = onConnections(8, to: endpoint, slots) { client, slot in
                try await client.request("POST", "/task/delete", json: ClientEndpoint.task("ada", slot, "History"))
            }
            async let registrations = onConnections(8, to: endpoint, slots) { client, slot in
                try await client.request("POST", "/task", json: ClientEndpoint.task("bob", slot, "Maths"))
            }
            var cancelled: Set<Date> = []
            for response in try await cancellations {
                if response.status == 200 {
                    cancelled.insert(try response.decode(RegisteredTask.self).startsAt)
                } else {
                    #expect(response.status == 409 && response.code == "has_partner")
                }
            }
            let tasks = try await registrations.map { try $0.decode(RegisteredTask.self) }
            #expect(tasks.count == slots.count)
            for task in tasks {
                // Answers stay true: no task that was answered as matched has lost its partner.
                #expect(task.isPaired == !cancelled.contains(task.startsAt))
            }
            try await journey.wait(
                until: """
                    NOT EXISTS (
                        SELECT FROM schedule.task AS one
                        WHERE partner_id IS NOT NULL AND NOT EXISTS (
                            SELECT FROM schedule.task WHERE id = one.partner_id AND partner_id = one.id))
                    """)
        }
    }
}
