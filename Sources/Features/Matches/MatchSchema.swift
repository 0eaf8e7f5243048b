import CEmbedded
import Features
import Postgres

/// The database functions of matches' rooms: `SQL/`.
enum MatchSchema {
    static let scripts: [PostgresFunctions.Script] = [
        .init("absence", EmbeddedFile.absence_sql),
        .init("rooms", EmbeddedFile.rooms_sql),
        .init("attendance", EmbeddedFile.attendance_sql),
    ]
}
