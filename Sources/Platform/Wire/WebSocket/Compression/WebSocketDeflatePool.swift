/// Memory of zlib for those connections of an event loop that keep none themselves.
///
/// Each message is compressed or decompressed within one call. One deflater and one inflater are therefore enough for
/// any number of connections. They take about 100 KB per loop, and are made for the first compressed message. Threads
/// must not share a pool.
package final class WebSocketDeflatePool {
    private var inflater: Inflater?
    /// The deflaters by their window bits.
    private var deflaters: [UInt8: Deflater] = [:]
    /// The two output buffers. There are two because the receiver of a message may send a response while it uses the
    /// message.
    var inflated = ZlibOutput()
    var deflated = ZlibOutput()

    package init() {}

    /// Returns an inflater without earlier messages. Its window is large enough for every sender.
    func borrowInflater() -> Inflater? {
        if let inflater {
            inflater.reset()
            return inflater
        }
        inflater = Inflater(windowBits: 15)
        return inflater
    }

    /// Returns a deflater without earlier messages.
    func borrowDeflater(windowBits: UInt8) -> Deflater? {
        if let deflater = deflaters[windowBits] {
            deflater.reset()
            return deflater
        }
        let made = Deflater(windowBits: windowBits, .brief)
        deflaters[windowBits] = made
        return made
    }

    func dropDeflater(windowBits: UInt8) {
        deflaters[windowBits] = nil
    }
}
