/// Where a private cluster is.
package struct PrivateClusterLocation: Sendable, Equatable {
    /// For `PostgresConfiguration`: the database `letsswitch` over the cluster's Unix socket.
    package let conninfo: String
    package let dataDirectory: String
    package let socketDirectory: String
    /// The state directory that was asked for, when the data could not be kept there.
    package let relocatedFrom: String?
    /// Why not, for people.
    package let relocationReason: String?
}
