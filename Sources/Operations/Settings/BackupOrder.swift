/// What `letsswitchd backup FILE` and `letsswitchd restore FILE` ask for.
package struct BackupOrder: Sendable, Equatable {
    package enum Direction: String, Sendable {
        /// From the private cluster into the file.
        case backup
        /// From the file into the private cluster.
        case restore
    }

    package let direction: Direction
    package let file: String
    /// Where the private cluster is.
    package let stateDirectory: String

    /// - Throws: ``UsageError`` when the tasks are kept elsewhere: this daemon's tools may be too old for that database, and it has
    ///   those who see to it.
    init(_ direction: Direction, _ file: String, _ configuration: Configuration) throws(UsageError) {
        guard configuration.database == .privateCluster else {
            throw UsageError(
                """
                \(direction.rawValue): this command is for the private cluster only, but the tasks are in \
                \(configuration.database.description): use pg_dump and pg_restore
                """)
        }
        self.direction = direction
        self.file = file
        stateDirectory = configuration.stateDirectory
    }

    /// What follows the command: the file, and the flags of all commands.
    static func file(_ arguments: inout ArraySlice<String>, _ direction: Direction) throws(UsageError) -> String {
        guard let name = arguments.first, !name.isEmpty, !name.hasPrefix("--") else {
            throw UsageError("\(direction.rawValue): a file name is missing: letsswitchd \(direction.rawValue) FILE")
        }
        arguments.removeFirst()
        return name
    }
}
