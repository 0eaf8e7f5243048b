/// The order of `letsswitchd backup FILE` or `letsswitchd restore FILE`.
package struct BackupOrder: Sendable, Equatable {
    package enum Direction: String, Sendable {
        /// From the private cluster into the file.
        case backup
        /// From the file into the private cluster.
        case restore
    }

    package let direction: Direction
    package let file: String
    /// The directory of the private cluster.
    package let stateDirectory: String

    /// - Throws: ``UsageError`` if the database isn't the private cluster. For a different database, the tools of this
    ///   machine may be too old, and the database has its own administrators.
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

    /// Removes the file name from the arguments. The flags stay.
    static func file(_ arguments: inout ArraySlice<String>, _ direction: Direction) throws(UsageError) -> String {
        guard let name = arguments.first, !name.isEmpty, !name.hasPrefix("--") else {
            throw UsageError("\(direction.rawValue): a file name is missing: letsswitchd \(direction.rawValue) FILE")
        }
        arguments.removeFirst()
        return name
    }
}
