import Glibc

/// The kernel's information about a connection. It is read from the kernel when it is needed, and the socket doesn't
/// store it.
extension StreamSocket {
    /// The inode number of the socket, which `ss -e` shows as `ino`. Unlike a descriptor, it isn't reused soon. It
    /// stays the same when the connection moves to another loop.
    package var inode: UInt64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    /// The peer's address, or `nil` for a Unix socket.
    package var peerAddress: PeerAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
        }
        return result == 0 ? PeerAddress(storage) : nil
    }

    /// The user id of a Unix socket's peer (unix(7), SO_PEERCRED), or `nil` if the kernel doesn't know it.
    package var peerUser: UInt32? {
        // This has the layout of `struct ucred`: process, user, group. <sys/socket.h> declares it only for _GNU_SOURCE.
        var credentials: (process: Int32, user: UInt32, group: UInt32) = (0, .max, .max)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0, credentials.user != .max
        else {
            return nil
        }
        return credentials.user
    }
}
