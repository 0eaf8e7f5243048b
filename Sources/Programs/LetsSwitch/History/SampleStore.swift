import FoundationEssentials
import Postgres
import Rooms
import Wire

/// The samples that daemons share through the database. Every operation is one statement. Throws `PostgresError`.
struct SampleStore: Sendable {
    /// The names of the statements, for metrics.
    static let statementNames = [share, due].map(\.name)

    private static let share = PostgresStatement(
        name: "share_sample", sql: "SELECT sample FROM operations.share_sample($1::uuid, $2)")
    private static let due = PostgresStatement(
        name: "due_soon", sql: "SELECT due, late FROM schedule.due_soon()")
    private static let timeout = Duration.seconds(3)

    private let database: PostgresClient

    init(database: PostgresClient) {
        self.database = database
    }

    /// Stores this daemon's sample.
    ///
    /// - Returns: The samples of the other daemons.
    func share(_ sample: Sample, of id: DaemonID) async throws -> [Sample] {
        let text = String(decoding: sample.json, as: UTF8.self)
        let rows = try await database.query(
            Self.share, [.text(id.description), .text(text)], timeout: Self.timeout)
        return try rows.compactMap { Sample(json: try $0.string("sample")) }
    }

    /// Returns the number of reminders of the next hour, up to a limit, and the lateness in seconds of the first unsent
    /// reminder.
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

    /// Parses a sample of another daemon, which may run a different build. Values that this build doesn't know are
    /// ignored. Values that the other build doesn't know are missing in the sample.
    init?(json: String) {
        guard let members = try? JSONDecoder().decode([String: Double].self, from: Data(json.utf8)) else { return nil }
        for series in SampleSeries.all { self[series] = members[series.name] }
    }
}
