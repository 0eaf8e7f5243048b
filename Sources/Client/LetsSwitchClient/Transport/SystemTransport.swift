/// Returns this system's transport.
func systemTransport(to server: ServerAddress) -> any Transport {
    #if canImport(Glibc)
        SocketTransport(server: server)
    #else
        URLSessionTransport(server: server)
    #endif
}
