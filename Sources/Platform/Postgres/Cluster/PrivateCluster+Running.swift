/// Finding a cluster that a daemon runs, for commands beside it: nothing is locked, started or stopped.
extension PrivateCluster {
    /// The conninfo of its database.
    ///
    /// - Throws: ``PrivateClusterError`` when no daemon runs it.
    package static func running(stateDirectory: String, names: ClusterNames) throws -> String {
        guard let found = findRunning(state: Directory(path: stateDirectory), names: names) else {
            throw PrivateClusterError("no daemon serves from \(stateDirectory)")
        }
        return found.conninfo
    }

    static func findRunning(state: Directory, names: ClusterNames) -> (conninfo: String, data: Directory)? {
        for data in ClusterPlacement.dataDirectories(state: state, names: names) {
            guard let file = PostmasterFile(data: data), file.isRunning(in: data), file.isReady else { continue }
            let conninfo = ClusterPlacement.conninfo(
                names: names, sockets: file.socketDirectory, database: names.database)
            return (conninfo, data)
        }
        return nil
    }
}
