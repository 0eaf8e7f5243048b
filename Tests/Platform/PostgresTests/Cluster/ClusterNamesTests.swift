import Testing

@testable import Postgres

@Suite struct ClusterNamesTests {
    @Test("The superuser and the database have the program's name by default")
    func defaults() {
        let names = ClusterNames(program: "p")
        #expect(names.superuser == "p" && names.database == "p" && names.directory == "postgres")
        let others = ClusterNames(program: "p", superuser: "s", database: "d", directory: "x")
        #expect(others.superuser == "s" && others.database == "d" && others.directory == "x")
    }

    @Test("The names are used by PostgreSQL and its tools")
    func use() throws {
        let names = ClusterNames(program: "p", superuser: "s", database: "d")
        #expect(names.initialisationArguments.contains("--username=s"))
        let conninfo = ClusterPlacement.conninfo(names: names, sockets: "/a", database: names.database)
        #expect(conninfo.contains("host='/a'") && conninfo.contains("user=s") && conninfo.contains("dbname=d"))
        let settings = ServerSettings(
            name: names.program, sockets: Directory(path: "/a"), isDurable: false, maxConnections: 7)
        for argument in ["cluster_name=p", "unix_socket_directories=/a", "max_connections=7", "fsync=off", "jit=off"] {
            #expect(settings.arguments.contains(argument))
        }
    }
}
