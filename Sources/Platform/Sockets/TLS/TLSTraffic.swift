/// The buffers between sockets and TLS sessions. A loop needs only one set, because input is used before the next
/// socket's turn, and each session keeps its own unsent output.
///
/// The loop's `recv` puts ciphertext into ``input``. OpenSSL reads it there, and writes to ``output``. OpenSSL
/// therefore makes no system call and no copy, and can't cause SIGPIPE.
final class TLSTraffic {
    /// The maximum content of a record in bytes (RFC 8446 §5.1).
    static let recordBytes = 16 * 1024
    /// The size of the output. It has space for three full records, for a handshake with the longest chain of
    /// certificates, or for all answers to a full receive buffer.
    private static let outputBytes = 160 * 1024

    /// The memory that OpenSSL reads and writes. It is allocated separately, because C code keeps its address.
    struct Ports {
        var input = UnsafeRawBufferPointer(start: nil, count: 0)
        var output = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        var written = 0
        /// The credit of the present session, see ``TLSKeyUpdates``.
        var keyUpdateCredit = 0

        /// Reduces the credit for a key update. If no credit is left, reading stops.
        mutating func payKeyUpdate() {
            keyUpdateCredit -= TLSKeyUpdates.cost
            if keyUpdateCredit < 0 { input = UnsafeRawBufferPointer(start: nil, count: 0) }
        }
    }

    let ports: UnsafeMutablePointer<Ports>
    /// Memory with space for a full receive buffer and an incomplete record before it.
    let plaintext: UnsafeMutableRawBufferPointer
    /// A buffer in which the pieces of a record are joined.
    let record = UnsafeMutableRawBufferPointer.allocate(byteCount: recordBytes, alignment: 16)

    /// - Parameter receiveBufferSize: The maximum number of ciphertext bytes received at once.
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

    /// The bytes that OpenSSL has written since ``beginOutput()``.
    var output: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: ports.pointee.output[..<ports.pointee.written])
    }

    func beginOutput() {
        ports.pointee.written = 0
    }
}
