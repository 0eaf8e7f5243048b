/// zlib memory for the connections of one event loop that keep none themselves.
///
/// Each message is compressed or decompressed within one call, so one deflater and inflater serve any number of
/// connections: about 100 KB per loop, made for the first compressed message. Not shared between threads.
package final class WebSocketDeflatePool {
    private var inflater: Inflater?
    /// The deflaters by their window bits.
    private var deflaters: [UInt8: Deflater] = [:]
    /// Two buffers, because the reader of a message may send a response meanwhile.
    var inflated = ZlibOutput()
    var deflated = ZlibOutput()

    package init() {}

    /// Returns a reset inflater. Its window is large enough for every sender.
    func borrowInflater() -> Inflater? {
        if let inflater {
            inflater.reset()
            return inflater
        }
        inflater = Inflater(windowBits: 15)
        return inflater
    }

    /// Returns a reset deflater.
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
