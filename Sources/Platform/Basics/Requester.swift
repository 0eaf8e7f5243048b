/// The address of the client for which a task works, as the networks that limits count by. Tasks of the daemon itself, and tasks that work
/// for several clients together, have no requester.
package struct Requester: Hashable, Sendable {
    /// The requester of the current task.
    @TaskLocal package static var current: Requester?

    /// The networks that contain the address, the narrowest first: an IPv4 address alone, or three networks of an IPv6 address.
    package let networks: [UInt128]
    /// The widest of them.
    package let network: UInt128

    package init(networks: [UInt128]) {
        self.networks = networks
        network = networks.last ?? 0
    }
}

extension Task where Success == Void, Failure == Never {
    /// Starts a task without a requester, for work that several clients wait for.
    package static func unowned(_ work: @escaping @Sendable () async -> Void) {
        _ = Requester.$current.withValue(nil) { Task { await work() } }
    }
}
