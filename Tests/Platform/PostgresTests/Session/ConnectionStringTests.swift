import Testing

@testable import Postgres

/// Connection strings, parsed by libpq without connecting.
@Suite struct ConnectionStringTests {
    @Test(
        "A connection string that libpq parses as intended is accepted",
        arguments: [
            "postgresql://h", "postgres://u:p%40ss%2F@h1:5432,h2:/d?sslmode=require", "postgresql://u:pa?ss@h/d",
            "postgresql:///d?host=/run&user=a@b", "postgres://%40socket/d",
            "host=/run dbname=d user=a@b password='a b'", "dbname=a@b user=c?d port=5433",
        ])
    func readable(text: String) {
        #expect(ConnectionString.isReadable(text))
    }

    @Test(
        "A string that libpq can't parse as intended is refused",
        arguments: [
            "postgresql://u:50%off@h/x", "postgresql+asyncpg://u:secret@h/x?ssl", "host=h password=my secret",
            "host=h sceret=x", "postgresql://u:p@ss@h/x", "postgresql://u:pa/ss@h/x", "postgresql://u:12/ss@h/x",
            "postgresql://u:1,2/ss@h/x", "postgresql://u:99999/x", "postgresql://h?user=u&password=p@ss",
        ])
    func unreadable(text: String) {
        #expect(!ConnectionString.isReadable(text))
    }
}
