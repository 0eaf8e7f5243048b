import Synchronization

/// The channels for which this daemon writes deliveries: those that are configured, and have not been turned away for good.
/// Any thread.
package final class ActiveChannels: Sendable {
    private let bits: Atomic<UInt8>

    package init(_ names: [ChannelName] = []) {
        bits = Atomic(names.reduce(0) { $0 | $1.bit })
    }

    package func contains(_ name: ChannelName) -> Bool {
        bits.load(ordering: .relaxed) & name.bit != 0
    }

    package var isEmpty: Bool { bits.load(ordering: .relaxed) == 0 }

    package var names: [ChannelName] { ChannelName.allCases.filter(contains) }

    /// Nothing is written for this one any more, until the daemon starts anew.
    func remove(_ name: ChannelName) {
        _ = bits.bitwiseAnd(~name.bit, ordering: .relaxed)
    }
}
