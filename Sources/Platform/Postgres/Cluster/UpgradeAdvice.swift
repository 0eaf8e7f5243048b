/// The commands that upgrade data to another major version of PostgreSQL.
struct UpgradeAdvice {
    let data: Directory
    let from: Int
    let to: PostgresBinaries
    let user: ClusterUser
    let names: ClusterNames

    var text: String {
        let old = "/usr/lib/postgresql/\(from)/bin"
        guard from < to.major else {
            return """
                the data in \(data.path) is of PostgreSQL \(from), but the newest version installed here is \(to.major), which \
                is older: apt-get install postgresql-\(from)
                """
        }
        let parent = data.path.split(separator: "/").dropLast().map { "/\($0)" }.joined()
        let new = "\(data.path).\(to.major)"
        let prefix = user.commandPrefix.isEmpty ? "" : user.commandPrefix.joined(separator: " ") + " "
        return """
            the data in \(data.path) is of PostgreSQL \(from), and only \(to.major) is installed here. \
            Either install the old version (apt-get install postgresql-\(from)), or install it and upgrade the data:
              \(prefix)\(to.path("initdb")) \(names.initialisationArguments.joined(separator: " ")) -D '\(new)'
              cd '\(parent)' && \(prefix)\(to.path("pg_upgrade")) -U \(names.superuser) -b \(old) -B \(to.directory) \
            -d '\(data.path)' -D '\(new)'
              mv '\(data.path)' '\(data.path).\(from)' && mv '\(new)' '\(data.path)'
            """
    }
}
