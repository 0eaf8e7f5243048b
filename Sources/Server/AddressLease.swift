package import Wire

/// A connection's place in the ``AddressLedger``: its address' count is one lower when nobody holds the lease any more.
///
/// The socket holds it as its ``StreamSocket/companion``, so whatever becomes of the connection (an upgrade, a change of
/// loops, a peer that lingers), it counts exactly as long as its descriptor is open.
package final class AddressLease: Sendable {
    /// The address that is counted.
    package let address: IPAddress
    private let ledger: AddressLedger
    /// `nil` when the table had no place.
    private let slot: Int?

    init(of address: IPAddress, in ledger: AddressLedger, slot: Int?) {
        self.address = address
        self.ledger = ledger
        self.slot = slot
    }

    deinit {
        if let slot { ledger.close(slot: slot) }
    }
}
