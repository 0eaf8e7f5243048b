import Glibc

/// The user that runs a cluster's processes. PostgreSQL refuses to run as root.
struct ClusterUser: Sendable, Equatable {
    let name: String
    let uid: UInt32
    let gid: UInt32

    /// Returns the current user, unless it is root. For root, returns the owner of existing data. Without data, returns
    /// the owner of the state directory, so that root can create a cluster for the service's user. If that is root too,
    /// returns `postgres`, or `nobody`.
    static func choose(ownerOfData: UInt32?, ownerOfState: UInt32?) throws -> ClusterUser {
        let own = geteuid()
        guard own == 0 else {
            let user = ClusterUser(uid: own) ?? ClusterUser(name: "\(own)", uid: own, gid: getegid())
            guard let ownerOfData, ownerOfData != own else { return user }
            let owner = ClusterUser(uid: ownerOfData)?.name ?? "\(ownerOfData)"
            throw PrivateClusterError("the data belongs to the user \(owner): run as that user, or as root")
        }
        if let ownerOfData, ownerOfData != 0 {
            return ClusterUser(uid: ownerOfData)
                ?? ClusterUser(name: "\(ownerOfData)", uid: ownerOfData, gid: ownerOfData)
        }
        if let ownerOfState, ownerOfState != 0, let user = ClusterUser(uid: ownerOfState) { return user }
        guard let user = ClusterUser(named: "postgres") ?? ClusterUser(named: "nobody"), user.uid != 0 else {
            throw PrivateClusterError("no user for the private cluster: neither postgres nor nobody exists")
        }
        return user
    }

    /// The beginning of a command line that runs a command as this user.
    var commandPrefix: [String] {
        guard uid != geteuid() else { return [] }
        // The user is given by number, because it may have no name. Only a user with a name has groups.
        let groups = ClusterUser(uid: uid) == nil ? "--clear-groups" : "--init-groups"
        return ["setpriv", "--reuid=\(uid)", "--regid=\(gid)", groups, "--no-new-privs", "--"]
    }

    /// Throws if the user has no name, because `initdb` refuses such a user.
    func requireName() throws {
        guard ClusterUser(uid: uid) == nil else { return }
        throw PrivateClusterError(
            """
            the user \(uid) has no name, and PostgreSQL can't create a cluster for such a user: install libnss-systemd \
            (for systemd's DynamicUser=), or run as a user that is in /etc/passwd
            """)
    }

    init(name: String, uid: UInt32, gid: UInt32) {
        self.name = name
        self.uid = uid
        self.gid = gid
    }

    private init?(named name: String) {
        self.init { getpwnam_r(name, $0, $1, $2, $3) }
    }

    private init?(uid: UInt32) {
        self.init { getpwuid_r(uid, $0, $1, $2, $3) }
    }

    private init?(
        _ lookUp: (
            UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
        ) -> Int32
    ) {
        let found = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer -> ClusterUser? in
            var entry = passwd()
            var result: UnsafeMutablePointer<passwd>?
            guard let base = buffer.baseAddress, lookUp(&entry, base, buffer.count, &result) == 0, result != nil,
                let name = entry.pw_name
            else { return nil }
            return ClusterUser(name: String(cString: name), uid: entry.pw_uid, gid: entry.pw_gid)
        }
        guard let found else { return nil }
        self = found
    }
}
