/// Finds the cluster of a running daemon, for commands. This doesn't lock, start or stop anything.
extension PrivateCluster {
    /// Returns the connection string of the cluster's database.
    ///
    /// - Throws: ``PrivateClusterError`` if no daemon runs the cluster.
    package static func running(stateDirectory: String, names: ClusterNames) throws -> String {
        guard let found = findRunning(state: Directory(path: stateDirectory), names: names) else {
            throw PrivateClusterError("no daemon is running with the state directory \(stateDirectory)")
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
