import Glibc

/// The directories of a cluster, and the user that it runs as.
///
/// ```
///   <state directory>/lock                 held by the daemon
///   <state directory>/<directory>/         0700, the cluster's user
///                              data/       PostgreSQL's data directory
///                              socket/     .s.PGSQL.5432
/// ```
///
/// If the cluster's user can't enter the state directory, the directory is `/var/lib/<program>/<hash of the state
/// directory>/`. ``ClusterNames`` has the names.
struct ClusterPlacement: Sendable, Equatable {
    static let port = 5432
    /// The maximum length of a socket's path: `sun_path` has 108 bytes, and the last one is NUL.
    static let longestSocketPath = 107

    let names: ClusterNames
    let user: ClusterUser
    /// The directory that contains `data`. The directory also contains `socket`, unless that path is too long.
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

    /// Returns a connection string with all parameters that `PG*` variables of the environment could change.
    static func conninfo(names: ClusterNames, sockets: String, database: String) -> String {
        """
        host='\(sockets)' port=\(port) user=\(names.superuser) dbname=\(database) hostaddr='' \
        options='' sslmode=disable gssencmode=disable target_session_attrs=any
        """
    }

    /// Returns the directories that may contain data for a state directory. Some of them may be inaccessible.
    static func dataDirectories(state: Directory, names: ClusterNames) -> [Directory] {
        let (real, elsewhere) = bases(state: state, names: names)
        return [real, elsewhere].map { $0.appending(names.directory).appending("data") }
    }

    /// Returns the state directory, and the directory that replaces it if the cluster's user can't enter it.
    private static func bases(state: Directory, names: ClusterNames) -> (real: Directory, elsewhere: Directory) {
        let real = Directory(path: state.realPath ?? state.path)
        return (real, Directory(path: "/var/lib/\(names.program)").appending(hash(real.path)))
    }

    /// Chooses the directories. `state` must exist. If this process is root, the call blocks for a few milliseconds: it
    /// tests, as the cluster's user, whether that user can enter the directory.
    static func choose(state: Directory, names: ClusterNames) throws -> ClusterPlacement {
        let (real, elsewhere) = bases(state: state, names: names)
        var base = real
        var reason: String?
        var user = try ClusterUser.choose(ownerOfData: owner(of: names, in: real), ownerOfState: real.owner)
        if geteuid() == 0 {
            if !canEnter(real, user) {
                reason = "the user \(user.name) cannot enter \(real.path)"
            } else if owner(of: names, in: real) == nil, owner(of: names, in: elsewhere) != nil {
                reason = "the data was created when the cluster's user could not enter \(real.path)"
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

    /// Returns a directory in `home` if the socket's path is short enough and needs no quotes. Otherwise returns a
    /// short path.
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

    /// Returns a hash of 16 hexadecimal digits (FNV-1a, 64 bits). Every start of the program computes the same hash for
    /// a path.
    static func hash(_ path: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in path.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func owner(of names: ClusterNames, in base: Directory) -> UInt32? {
        base.appending(names.directory).appending("data").owner
    }

    /// Tests whether a user can enter a directory. The kernel decides, so groups, ACLs and mounts count.
    private static func canEnter(_ directory: Directory, _ user: ClusterUser) -> Bool {
        let command = user.commandPrefix + ["test", "-x", directory.path]
        return (try? Subprocess(command: command).run(timeout: .seconds(10)))?.succeeded ?? false
    }
}

/// The names that a private cluster uses. Its program chooses them.
package struct ClusterNames: Sendable, Equatable {
    /// The name of replacement directories in `/var/lib`, `/run` and `/tmp`. It is also the cluster's name in the list
    /// of processes.
    package let program: String
    /// The superuser's name. This user owns all objects. The permissions of the socket's directory exclude other users.
    package let superuser: String
    package let database: String
    /// The directory in the state directory that contains the data and the socket.
    package let directory: String

    /// Creates the names. All of them consist of letters, digits and underscores and begin with a letter, because
    /// statements and paths contain them without quotes.
    package init(program: String, superuser: String? = nil, database: String? = nil, directory: String = "postgres") {
        self.program = program
        self.superuser = superuser ?? program
        self.database = database ?? program
        self.directory = directory
    }

    /// The arguments of `initdb`.
    var initialisationArguments: [String] {
        ["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--username=\(superuser)"]
    }
}
