import FoundationEssentials
import Postgres
import Rooms
import Wire

/// What daemons on one database let each other know of their samples. Every operation is one statement. Throws `PostgresError`.
struct SampleStore: Sendable {
    /// The names that metrics go by.
    static let statementNames = [share, due].map(\.name)

    private static let share = PostgresStatement(
        name: "share_sample", sql: "SELECT sample FROM letsswitch.share_sample($1::uuid, $2)")
    private static let due = PostgresStatement(
        name: "due_soon", sql: "SELECT due, late FROM letsswitch.due_soon()")
    private static let timeout = Duration.seconds(3)

    private let database: PostgresClient

    init(database: PostgresClient) {
        self.database = database
    }

    /// Leaves this daemon's sample there.
    ///
    /// - Returns: The others'.
    func share(_ sample: Sample, of id: DaemonID) async throws -> [Sample] {
        let text = String(decoding: sample.json, as: UTF8.self)
        let rows = try await database.query(
            Self.share, [.text(id.description), .text(text)], timeout: Self.timeout)
        return try rows.compactMap { Sample(json: try $0.string("sample")) }
    }

    /// Reminders of the next hour, as far as they are counted, and by how many seconds the first is late that hasn't fired.
    func dueSoon() async throws -> (count: Int, late: Double) {
        let row = try await database.query(Self.due, [], timeout: Self.timeout)[0]
        return (try row.integer("due"), try row.double("late"))
    }
}

extension Sample {
    var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            for series in SampleSeries.all { if let value = self[series] { object.member(series.name, value) } }
        }
        return json.bytes
    }

    /// Another build may know more series, or fewer.
    init?(json: String) {
        guard let members = try? JSONDecoder().decode([String: Double].self, from: Data(json.utf8)) else { return nil }
        for series in SampleSeries.all { self[series] = members[series.name] }
    }
}
