import Glibc

/// What the kernel knows of a connection. Asked when somebody wants to know: a socket keeps nothing of it.
extension StreamSocket {
    /// The number of the kernel's socket (`ss -e` shows it as `ino`): unlike a descriptor it isn't given anew soon, and it stays the
    /// same when the connection changes loops.
    package var inode: UInt64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    /// Where the peer is; `nil` for a Unix socket's.
    package var peerAddress: PeerAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        return result == 0 ? PeerAddress(storage) : nil
    }

    /// The user who connected to a Unix socket (unix(7), SO_PEERCRED); `nil` when the kernel doesn't say.
    package var peerUser: UInt32? {
        // `struct ucred`, which <sys/socket.h> declares for _GNU_SOURCE only: process, user, group.
        var credentials: (process: Int32, user: UInt32, group: UInt32) = (0, .max, .max)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0, credentials.user != .max
        else {
            return nil
        }
        return credentials.user
    }
}
