import CEmbedded
import Features
import Postgres

/// The tables and database functions of matches' rooms: `SQL/`.
enum MatchSchema {
    static let tables = String(cString: EmbeddedFile.matches_tables_sql.bytes)

    static let scripts: [PostgresFunctions.Script] = [
        .init("absence", EmbeddedFile.absence_sql),
        .init("rooms", EmbeddedFile.rooms_sql),
        .init("attendance", EmbeddedFile.attendance_sql),
    ]
}
