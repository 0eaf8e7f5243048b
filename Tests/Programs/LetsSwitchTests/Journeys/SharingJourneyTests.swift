import Domain
import Foundation
import JourneyTestSupport
import Postgres
import Server
import Settings
import TestSupport
import Testing

/// What a stranger leaves to other people, over the wire.
@Suite struct SharingJourneyTests {
    private static func forwarded(_ address: String) -> TestHeaders { ["X-Forwarded-For": address] }

    private static func session(_ device: String) -> [UInt8] {
        Array(#"{"deviceId":"\#(device)","title":"Tea"}"#.utf8)
    }

    @Test("An address whose queries all wait leaves connections to other addresses")
    func slowQueries() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            func run(_ sql: String) async throws -> PostgresRows {
                try await journey.client.query(PostgresStatement(name: "", sql: sql))
            }
            _ = try await run("CREATE TABLE public.released ()")
            let holder = PostgresClient(configuration: journey.configuration)
            async let held = holder.query(
                PostgresStatement(
                    name: "",
                    sql: """
                        DO $$
                        BEGIN
                            LOCK TABLE schedule.series IN ACCESS EXCLUSIVE MODE;
                            LOOP
                                EXIT WHEN EXISTS (SELECT FROM public.released);
                                PERFORM pg_sleep(0.01);
                            END LOOP;
                        END
                        $$
                        """))
            func waiting() async throws -> Int {
                try await run(
                    """
                    SELECT FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%list_series%'
                        AND pid <> pg_backend_pid()
                    """
                ).count
            }
            try await eventually("the table is locked") {
                try await run(
                    "SELECT FROM pg_locks WHERE relation = 'schedule.series'::regclass AND mode = 'AccessExclusiveLock' AND granted"
                ).count == 1
            }
            try await withThrowingTaskGroup(of: Int.self) { group in
                let ask: @Sendable () async throws -> Int = {
                    let client = try await HTTPTestClient.connect(to: endpoint)
                    return try await client.request(
                        "GET", "/series?deviceId=mallory", headers: Self.forwarded("203.0.113.7")
                    ).status
                }
                for _ in 0..<40 { group.addTask(operation: ask) }
                try await eventually("the stranger's queries wait") {
                    if try await waiting() >= 3 { return true }
                    // Queries that are queued on a connection stay there. One that opens later gets only new ones.
                    group.addTask(operation: ask)
                    return false
                }
                let client = try await HTTPTestClient.connect(to: endpoint)
                for number in 0..<20 {
                    let answer = try await client.request(
                        "GET", "/history?deviceId=ada\(number)", headers: Self.forwarded("203.0.113.8"))
                    #expect(answer.status == 200)
                }
                #expect(try await waiting() == 3)
                _ = try await run("INSERT INTO public.released DEFAULT VALUES")
                for try await status in group { #expect(status == 200) }
            }
            _ = try await held
            await holder.shutdown()
        }
    }

    @Test("An IPv6 site uses up only its own share of the stored sessions")
    func storedSessions() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.storage.sessions = 64 }
            let client = try await HTTPTestClient.connect(to: endpoint)
            var codes: [String: Int] = [:]
            for number in 0..<40 {
                let answer = try await client.request(
                    "POST", "/questions/sessions", headers: Self.forwarded("2001:db8:1:\(number)00::1"),
                    body: Self.session("mallory-\(number)"))
                codes[answer.status == 201 ? "made" : answer.code ?? "", default: 0] += 1
                if answer.status == 429 { #expect(Int(answer.headers["Retry-After"] ?? "") ?? 0 > 0) }
            }
            #expect(codes == ["made": 16, "too_many_registrations": 24])
            for address in ["203.0.113.8", "2001:db8:2::1"] {
                let answer = try await client.request(
                    "POST", "/questions/sessions", headers: Self.forwarded(address), body: Self.session(address))
                #expect(answer.status == 201)
            }
            let metrics = try await MetricsReading(endpoint)
            #expect(metrics["letsswitch_turned_away_total{cause=\"max-stored-sessions\"}"] == 24)
        }
    }

    @Test("Messages that begin conversations use up a network's share of them")
    func conversationsByMessages() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.storage.conversations = 64 }
            try await endpoint.makeUsers(1...6)
            let client = try await HTTPTestClient.connect(to: endpoint)
            func send(to user: Int, from address: String) async throws -> TestResponse {
                let body = #"{"deviceId":"d1","content":"Tea?","routingKey":"user\#(user)"}"#
                return try await client.request(
                    "POST", "/messages", headers: Self.forwarded(address), body: Array(body.utf8))
            }
            for user in 2...5 { #expect(try await send(to: user, from: "203.0.113.7").status == 201) }
            #expect(try await send(to: 6, from: "203.0.113.7").code == "too_many_registrations")
            // A message in a conversation that exists takes no share.
            #expect(try await send(to: 2, from: "203.0.113.7").status == 201)
            #expect(try await send(to: 6, from: "203.0.113.8").status == 201)
        }
    }

    @Test("A series counts as one registration, and each of its tasks as another")
    func series() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.limits.registrationsPerDay = 40 }
            let client = try await HTTPTestClient.connect(to: endpoint)
            func begin(_ device: String) async throws -> TestResponse {
                let body = """
                    {"deviceId":"\(device)","title":"History","startTime":"09:00","timeZone":"UTC",\
                    "days":["mon","tue","wed","thu","fri","sat","sun"]}
                    """
                return try await client.request(
                    "POST", "/series", headers: Self.forwarded("203.0.113.7"), body: Array(body.utf8))
            }
            let first = try await begin("ada")
            let made = try first.json()["tasks"].array?.count ?? 0
            #expect(first.status == 201 && (13...15).contains(made))
            // A repeat makes nothing.
            #expect(try await begin("ada").status == 200)
            let left = 40 - made - 2
            var statuses: [Int] = []
            let start = try await journey.instant(in: 3600)
            for number in 0...left {
                let body = #"{"deviceId":"bob-\#(number)","title":"x","startsAt":"\#(start)"}"#
                statuses.append(
                    try await client.request(
                        "POST", "/task", headers: Self.forwarded("203.0.113.7"), body: Array(body.utf8)
                    ).status)
            }
            #expect(statuses == Array(repeating: 201, count: left) + [429])
            #expect(try await begin("cleo").code == "too_many_registrations")
        }
    }
}
