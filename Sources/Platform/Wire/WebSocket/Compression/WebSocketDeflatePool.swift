/// zlib's memory for the connections of one event loop that keep none themselves.
///
/// A message is compressed and decompressed within one call, so one of each is enough for any number of connections: about
/// 100 KB a loop, made when the first compressed message comes. Not to be shared between threads.
package final class WebSocketDeflatePool {
    private var inflater: Inflater?
    /// By the bits of their windows.
    private var deflaters: [UInt8: Deflater] = [:]
    /// Two, because whoever reads a message may answer it meanwhile.
    var inflated = ZlibOutput()
    var deflated = ZlibOutput()

    package init() {}

    /// An inflater that knows of no message; its window is large enough for every sender.
    func borrowInflater() -> Inflater? {
        if let inflater {
            inflater.forget()
            return inflater
        }
        inflater = Inflater(windowBits: 15)
        return inflater
    }

    /// A deflater that knows of no message.
    func borrowDeflater(windowBits: UInt8) -> Deflater? {
        if let deflater = deflaters[windowBits] {
            deflater.forget()
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
