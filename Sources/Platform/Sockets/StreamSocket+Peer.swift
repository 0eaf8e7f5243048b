import Glibc

/// The kernel's information about a connection. It is read when it is needed; the socket stores none of it.
extension StreamSocket {
    /// The number of the kernel's socket, which `ss -e` shows as `ino`. Unlike a descriptor it isn't reused soon, and
    /// it stays the same when the connection changes loops.
    package var inode: UInt64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    /// The peer's address; `nil` for a Unix socket.
    package var peerAddress: PeerAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        return result == 0 ? PeerAddress(storage) : nil
    }

    /// The user id of a Unix socket's peer (unix(7), SO_PEERCRED); `nil` if the kernel doesn't know it.
    package var peerUser: UInt32? {
        // `struct ucred`, which <sys/socket.h> declares only for _GNU_SOURCE: process, user, group.
        var credentials: (process: Int32, user: UInt32, group: UInt32) = (0, .max, .max)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0, credentials.user != .max
        else {
            return nil
        }
        return credentials.user
    }
}
