/// What this system has to carry them.
func systemTransport(to server: ServerAddress) -> any Transport {
    #if canImport(Glibc)
        SocketTransport(server: server)
    #else
        URLSessionTransport(server: server)
    #endif
}
