/// The buffers between sockets and TLS sessions, of which an event loop needs only one set: what comes in is used up
/// before the next socket's turn, and of what goes out each session keeps what the kernel didn't take.
///
/// A session reaches the kernel through it: OpenSSL reads ciphertext from ``input``, where the loop's `recv` put it, and
/// writes to ``output``. So there is no system call under OpenSSL, no copy of its own, and no SIGPIPE.
final class TLSTraffic {
    /// The length of a record's content (RFC 8446 §5.1).
    static let recordBytes = 16 * 1024
    /// Three full records and a handshake's flight with the longest chain of certificates fit, as does what a whole
    /// receive buffer may provoke.
    private static let outputBytes = 160 * 1024

    /// What OpenSSL reads and writes; in memory of its own, because C has its address.
    struct Ports {
        var input = UnsafeRawBufferPointer(start: nil, count: 0)
        var output = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        var written = 0
        /// That of the session at work, see ``TLSKeyUpdates``.
        var keyUpdateCredit = 0

        /// An update came. Beyond the credit no more is read.
        mutating func payKeyUpdate() {
            keyUpdateCredit -= TLSKeyUpdates.cost
            if keyUpdateCredit < 0 { input = UnsafeRawBufferPointer(start: nil, count: 0) }
        }
    }

    let ports: UnsafeMutablePointer<Ports>
    /// For a receive buffer's worth of records and one that came in part before.
    let plaintext: UnsafeMutableRawBufferPointer
    /// Where pieces are put together to a record.
    let record = UnsafeMutableRawBufferPointer.allocate(byteCount: recordBytes, alignment: 16)

    /// - Parameter receiveBufferSize: The most ciphertext that comes at once.
    init(receiveBufferSize: Int) {
        plaintext = .allocate(byteCount: receiveBufferSize + 2 * Self.recordBytes, alignment: 16)
        ports = .allocate(capacity: 1)
        ports.initialize(to: Ports())
        ports.pointee.output = .allocate(byteCount: Self.outputBytes, alignment: 16)
    }

    deinit {
        ports.pointee.output.deallocate()
        ports.deallocate()
        plaintext.deallocate()
        record.deallocate()
    }

    /// What OpenSSL has written since ``beginOutput()``.
    var output: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: ports.pointee.output[..<ports.pointee.written])
    }

    func beginOutput() {
        ports.pointee.written = 0
    }
}
