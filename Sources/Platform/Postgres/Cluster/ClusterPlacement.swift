import Glibc

/// Where a cluster's data and socket go, and who it runs as.
///
/// ```
///   <state directory>/lock                 held by the daemon
///   <state directory>/<directory>/         0700, the cluster's user
///                              data/       PostgreSQL's data directory
///                              socket/     .s.PGSQL.5432
/// ```
/// A state directory that the cluster's user can't enter is left alone: its directory is then in
/// `/var/lib/<program>/<hash of the state directory>/`. Names are ``ClusterNames``.
struct ClusterPlacement: Sendable, Equatable {
    static let port = 5432
    /// `sun_path` has 108 bytes, the last one NUL.
    static let longestSocketPath = 107

    let names: ClusterNames
    let user: ClusterUser
    /// Holds `data` and, unless its path is too long, `socket`.
    let home: Directory
    let sockets: Directory
    let relocatedFrom: String?
    let relocationReason: String?

    var data: Directory { home.appending("data") }

    var location: PrivateClusterLocation { location(sockets: sockets.path) }

    func location(sockets: String) -> PrivateClusterLocation {
        PrivateClusterLocation(
            conninfo: Self.conninfo(names: names, sockets: sockets, database: names.database),
            dataDirectory: data.path,
            socketDirectory: sockets,
            relocatedFrom: relocatedFrom,
            relocationReason: relocationReason)
    }

    /// Names everything that a `PG*` variable of our environment could name otherwise.
    static func conninfo(names: ClusterNames, sockets: String, database: String) -> String {
        """
        host='\(sockets)' port=\(port) user=\(names.superuser) dbname=\(database) hostaddr='' \
        options='' sslmode=disable gssencmode=disable target_session_attrs=any
        """
    }

    /// Where there may be data of that state directory, whoever can reach them.
    static func dataDirectories(state: Directory, names: ClusterNames) -> [Directory] {
        let (real, elsewhere) = bases(state: state, names: names)
        return [real, elsewhere].map { $0.appending(names.directory).appending("data") }
    }

    /// The state directory, and what stands in for it.
    private static func bases(state: Directory, names: ClusterNames) -> (real: Directory, elsewhere: Directory) {
        let real = Directory(path: state.realPath ?? state.path)
        return (real, Directory(path: "/var/lib/\(names.program)").appending(hash(real.path)))
    }

    /// `state` exists. Blocks for a few milliseconds when root: asks the system, as the user, whether it can enter.
    static func choose(state: Directory, names: ClusterNames) throws -> ClusterPlacement {
        let (real, elsewhere) = bases(state: state, names: names)
        var base = real
        var reason: String?
        var user = try ClusterUser.choose(ownerOfData: owner(of: names, in: real), ownerOfState: real.owner)
        if geteuid() == 0 {
            if !canEnter(real, user) {
                reason = "the user \(user.name) cannot enter \(real.path)"
            } else if owner(of: names, in: real) == nil, owner(of: names, in: elsewhere) != nil {
                reason = "the data was put there when \(real.path) could not be entered by the cluster's user"
            }
            if reason != nil {
                base = elsewhere
                try base.createWithParents()
                user = try ClusterUser.choose(ownerOfData: owner(of: names, in: base), ownerOfState: nil)
                guard canEnter(base, user) else {
                    throw PrivateClusterError("the user \(user.name) can enter neither \(real.path) nor \(base.path)")
                }
            }
        }
        let home = base.appending(names.directory)
        return ClusterPlacement(
            names: names, user: user, home: home,
            sockets: sockets(home: home, program: names.program, hash: hash(real.path), uid: user.uid),
            relocatedFrom: reason == nil ? nil : state.path,
            relocationReason: reason)
    }

    /// In `home` when the socket's path fits and needs no quoting in a list of directories; else a short place.
    static func sockets(
        home: Directory, program: String, hash: String, uid: UInt32, runs: Bool = access("/run", W_OK) == 0
    ) -> Directory {
        let preferred = home.appending("socket")
        let isPlain = preferred.path.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"), UInt8(ascii: "+"):
                true
            default: false
            }
        }
        let fits = preferred.appending(".s.PGSQL.\(port)").path.utf8.count <= longestSocketPath
        if isPlain, fits { return preferred }
        return Directory(path: runs ? "/run/\(program)-\(hash)" : "/tmp/\(program)-\(uid)-\(hash)")
    }

    /// FNV-1a, 64 bits, in 16 hexadecimal digits: the same for a path on every start.
    static func hash(_ path: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in path.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func owner(of names: ClusterNames, in base: Directory) -> UInt32? {
        base.appending(names.directory).appending("data").owner
    }

    /// Tried rather than computed, so that groups, ACLs and mounts count as they do.
    private static func canEnter(_ directory: Directory, _ user: ClusterUser) -> Bool {
        let command = user.commandPrefix + ["test", "-x", directory.path]
        return (try? Subprocess(command: command).run(timeout: .seconds(10)))?.succeeded ?? false
    }
}

/// What a private cluster's parts are called: its program says.
package struct ClusterNames: Sendable, Equatable {
    /// Of the directories that stand in for one that can't be used, in `/var/lib`, `/run` and `/tmp`, and of the cluster in the list of
    /// processes.
    package let program: String
    /// The superuser and owner of everything; the socket's directory is what keeps others out.
    package let superuser: String
    package let database: String
    /// Within the state directory: for the data, and the socket.
    package let directory: String

    /// All of them are letters, digits and underscores, and begin with a letter: they go into statements and paths as they are.
    package init(program: String, superuser: String? = nil, database: String? = nil, directory: String = "postgres") {
        self.program = program
        self.superuser = superuser ?? program
        self.database = database ?? program
        self.directory = directory
    }

    /// What `initdb` is told.
    var initialisationArguments: [String] {
        ["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--username=\(superuser)"]
    }
}
