import Settings

/// The query and the columns of an ``Inspection``.
struct InspectionQuery {
    struct Column {
        let name: String
        let isNumber: Bool

        static func text(_ name: String) -> Column { Column(name: name, isNumber: false) }
        static func number(_ name: String) -> Column { Column(name: name, isNumber: true) }
    }

    /// The maximum number of rows. The query returns the rows that are nearest in time, or the latest ones.
    static let limit = 1_000

    let columns: [Column]
    let sql: String

    init(_ inspection: Inspection) {
        switch inspection {
        case .daemons:
            columns = [.text("host"), .text("build"), .text("bus"), .text("id"), .text("seen")]
            sql = """
                SELECT host, build, bus, upper(id::text) AS id, \(Self.instant("seen_at")) AS seen FROM core.daemon
                WHERE seen_at > core.clock() - interval '15 s' ORDER BY host, 4 LIMIT $1
                """
        case .rooms:
            columns = [.text("room"), .text("starts"), .text("closes"), .number("people"), .number("connections")]
            sql = """
                SELECT upper(room_id::text) AS room, \(Self.instant("min(starts_at)")) AS starts, \(Self.instant("min(closes_at)")) AS closes,
                    count(*) AS people, sum(connections) AS connections
                FROM (
                    SELECT room_id, sum(connections) AS connections,
                        (SELECT min(starts_at) FROM schedule.task WHERE task.room_id = presence.room_id) AS starts_at,
                        (SELECT min(closes_at) FROM schedule.task WHERE task.room_id = presence.room_id) AS closes_at
                    FROM core.presence GROUP BY room_id, task_id
                ) AS present GROUP BY room_id ORDER BY 2, 1 LIMIT $1
                """
        case .due:
            columns = [.text("reminds"), .text("starts"), .number("tasks"), .number("paired"), .number("failed")]
            sql = """
                SELECT \(Self.instant("due.reminds_at")) AS reminds, \(Self.instant("due.starts_at")) AS starts, count(*) AS tasks,
                    count(partner_id) AS paired, count(failures) AS failed
                FROM schedule.due JOIN schedule.task ON task.id = due.task_id
                WHERE due.reminds_at < core.clock() + interval '1 h'
                GROUP BY due.reminds_at, due.starts_at ORDER BY due.reminds_at, due.starts_at LIMIT $1
                """
        case .deliveries:
            columns = [
                .text("channel"), .number("waiting"), .number("reminders"), .number("tried"), .text("oldest"),
                .text("next"),
            ]
            sql = """
                SELECT channel, count(*) AS waiting, count(*) FILTER (WHERE urgent) AS reminders,
                    count(*) FILTER (WHERE attempts > 0) AS tried, \(Self.instant("min(created_at)")) AS oldest,
                    \(Self.instant("min(next_try_at)")) AS next
                FROM core.delivery GROUP BY channel ORDER BY channel LIMIT $1
                """
        case .sessions:
            columns = [.text("session"), .text("state"), .number("questions"), .text("used")]
            sql = """
                SELECT upper(id::text) AS session, state, question_count AS questions, \(Self.instant("used_at")) AS used
                FROM questions.question_session ORDER BY used_at DESC, id LIMIT $1
                """
        case .conversations:
            columns = [
                .text("conversation"), .text("type"), .number("members"), .number("messages"), .text("made"),
                .text("used"),
            ]
            sql = """
                SELECT upper(id::text) AS conversation, kind AS type, cardinality(members) AS members, last_number AS messages,
                    \(Self.instant("created_at")) AS made, \(Self.instant("used_at")) AS used
                FROM conversations.conversation ORDER BY used_at DESC, id LIMIT $1
                """
        }
    }

    /// Formats an instant as the HTTP interface does.
    private static func instant(_ column: String) -> String {
        "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    }
}
