/// The client for which a task works: its address, as the networks that limits count. Tasks of the daemon itself, and
/// tasks that work for several clients together, have no requester.
package struct Requester: Hashable, Sendable {
    /// The requester of the current task.
    @TaskLocal package static var current: Requester?

    /// The networks that contain the address, the narrowest first. An IPv4 address is its only network. An IPv6 address
    /// has three networks.
    package let networks: [UInt128]
    /// The widest of the networks.
    package let network: UInt128

    package init(networks: [UInt128]) {
        self.networks = networks
        network = networks.last ?? 0
    }
}

extension Task where Success == Void, Failure == Never {
    /// Starts a task without a requester, for work that several clients need.
    package static func unowned(_ work: @escaping @Sendable () async -> Void) {
        _ = Requester.$current.withValue(nil) { Task { await work() } }
    }
}
