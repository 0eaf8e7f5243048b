import HTTPClient
import Testing
import Wire

/// Networks that aren't part of the internet.
@Suite struct PrivateNetworksTests {
    @Test(
        "Private, link-local, shared, documentation and mapped addresses are private",
        arguments: [
            "127.0.0.1", "127.255.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "169.254.169.254", "100.64.0.1", "100.127.255.255", "192.0.2.1", "198.18.0.1", "224.0.0.1",
            "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "fd12:3456::1", "::ffff:10.0.0.1", "::10.0.0.1",
            "64:ff9b::a00:1", "2002:a00:1::1", "2001:db8::1", "ff02::1",
        ])
    func privateOnes(_ text: String) throws {
        #expect(PrivateNetworks.contains(try #require(IPAddress(text))))
    }

    @Test(
        "Publicly routed addresses aren't private",
        arguments: [
            "1.1.1.1", "8.8.8.8", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "17.253.144.10",
            "2606:4700:4700::1111", "2a00:1450:4001::1", "2620:149::1", "::ffff:8.8.8.8",
        ])
    func publicOnes(_ text: String) throws {
        #expect(!PrivateNetworks.contains(try #require(IPAddress(text))))
    }
}
