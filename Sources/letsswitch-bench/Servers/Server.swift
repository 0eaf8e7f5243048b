import Glibc

/// A server under test: a child process, and the port it listens on.
struct Server {
    let name: String
    let pid: pid_t
    let port: UInt16
}
