import Glibc
import Testing

@testable import Sockets

@Suite struct SocketAddressTests {
    @Test(
        "An address is written in the format of --listen",
        arguments: [("127.0.0.1", 8080, "127.0.0.1:8080"), ("::1", 80, "[::1]:80"), ("0.0.0.0", 0, "0.0.0.0:0")])
    func description(host: String, port: Int, text: String) throws {
        let addresses = try SocketAddress.resolve(host: host, port: UInt16(port))
        #expect(addresses.map(\.description) == [text])
        #expect(addresses.map(\.port) == [UInt16(port)])
        #expect(addresses.map(\.path) == [nil])
    }

    @Test("A path of up to 107 bytes is an address")
    func path() throws {
        let longest = "/" + String(repeating: "x", count: 106)
        let address = try SocketAddress(path: longest)
        #expect(address.path == longest)
        #expect(address.port == nil)
        #expect(address.description == "unix:" + longest)
        for wrong in [longest + "x", ""] {
            #expect(throws: SocketError("bind", on: wrong, errno: ENAMETOOLONG)) { try SocketAddress(path: wrong) }
        }
    }

    @Test("An unknown host gives an error")
    func unknownHost() {
        // `.invalid` never resolves (RFC 6761 §6.4). A label of more than 63 bytes isn't even looked up.
        let host = String(repeating: "x", count: 64) + ".invalid"
        #expect {
            try SocketAddress.resolve(host: host, port: 80)
        } throws: { error in
            (error as? ResolveError)?.description.hasPrefix(host + ": ") == true
        }
    }

    @Test("An error contains the call, the subject and the reason")
    func error() {
        #expect(SocketError("bind", on: "x", errno: EADDRINUSE).description == "bind x: Address already in use")
        #expect(SocketError("listen", errno: EINVAL).description == "listen: Invalid argument")
    }
}
