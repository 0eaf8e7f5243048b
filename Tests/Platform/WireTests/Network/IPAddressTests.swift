import Testing

@testable import Wire

@Suite struct IPAddressTests {
    @Test(
        "An address equals its sixteen bytes in every format",
        arguments: [
            ("192.0.2.1", 0, 0xFFFF_C000_0201), ("::ffff:192.0.2.1", 0, 0xFFFF_C000_0201),
            ("::ffff:c000:201", 0, 0xFFFF_C000_0201), ("0.0.0.0", 0, 0xFFFF_0000_0000), ("::", 0, 0), ("::1", 0, 1),
            ("2001:db8::1", 0x2001_0DB8_0000_0000, 1), ("2001:DB8:0:0:0:0:0:1", 0x2001_0DB8_0000_0000, 1),
            ("fe80::abcd:0:0:1", 0xFE80_0000_0000_0000, 0xABCD_0000_0000_0001),
        ] as [(String, UInt64, UInt64)])
    func reading(text: String, high: UInt64, low: UInt64) {
        #expect(IPAddress(text) == IPAddress(high: high, low: low))
    }

    @Test(
        "An address has its usual format",
        arguments: ["192.0.2.1", "0.0.0.0", "::1", "2001:db8::1", "fe80::abcd:0:0:1"])
    func writing(text: String) {
        #expect(IPAddress(text)?.description == text)
    }

    @Test(
        "An invalid address is refused",
        arguments: [
            "", "1", "1.2.3", "1.2.3.4.5", "256.0.0.1", "01.2.3.4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4:80", "[::1]",
            ":::",
            "fe80::1%eth0", "::1\0", "unknown", "1.2.3.4\0", "12345::", String(repeating: "1:", count: 30),
        ])
    func notReading(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(
        "Loopback is 127.0.0.0/8 and ::1",
        arguments: [
            ("127.0.0.1", true), ("127.255.255.254", true), ("::ffff:127.0.0.1", true), ("::1", true),
            ("128.0.0.1", false), ("126.255.255.255", false), ("::2", false), ("::", false), ("1::1", false),
            ("::7f00:1", false),
        ])
    func loopback(text: String, isLoopback: Bool) throws {
        #expect(try #require(IPAddress(text)).isLoopback == isLoopback)
    }

    @Test(
        "Limits count whole IPv4 addresses, and IPv6 networks of 64 bits",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1::"),
            ("2001:db8:0:1::", "2001:db8:0:1::"),
        ])
    func subscribers(text: String, subscriber: String) throws {
        #expect(try #require(IPAddress(text)).subscriber == IPAddress(subscriber))
    }

    @Test(
        "A network contains the addresses with its prefix",
        arguments: [
            ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false), ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "2001:db8::1", true), ("::/0", "8.8.8.8", true),
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.0", false), ("192.0.2.1/32", "192.0.2.1", true),
            ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::", false),
            ("2001:db8::/64", "2001:db8::ffff:1", true), ("2001:db8::/64", "2001:db8:0:1::", false),
            ("2001:db8::/65", "2001:db8:0:0:7fff::", true), ("2001:db8::/65", "2001:db8:0:0:8000::", false),
            ("::1/128", "::1", true), ("::1", "::", false), ("::ffff:10.0.0.0/104", "10.1.2.3", true),
        ])
    func containing(network: String, address: String, isInside: Bool) throws {
        #expect(try #require(IPNetwork(network)).contains(try #require(IPAddress(address))) == isInside)
    }

    @Test(
        "An invalid network is refused",
        arguments: [
            "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "::/129", "2001:db8::1/64", "10.0.0.0/+8",
            "10.0.0.0/8/8",
            "10.0.0.0/-1", "10.0.0.0/0008", "loopback", "10/8", "0.0.0.1/0",
        ])
    func noNetwork(text: String) {
        #expect(IPNetwork(text) == nil)
    }

    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

    @Test("This machine's peers are trusted unless other networks or none are given")
    func trusted() throws {
        let machine = TrustedNetworks.thisMachine
        #expect(machine.contains(nil))
        #expect(try machine.contains(address("127.0.0.2")))
        #expect(try machine.contains(address("::1")))
        #expect(try !machine.contains(address("10.0.0.1")))
        var named = TrustedNetworks()
        for text in ["10.0.0.0/8", "2001:db8::7"] {
            let isTaken = named.insert(text)
            #expect(isTaken)
        }
        #expect(!named.contains(nil))
        #expect(try !named.contains(address("127.0.0.1")))
        #expect(try named.contains(address("10.0.0.1")))
        #expect(try named.contains(address("2001:db8::7")))
        var noNetworks = TrustedNetworks()
        for (text, isGood) in [("none", true), ("local", false), ("10.0.0.0/40", false), ("", false)] {
            let isTaken = noNetworks.insert(text)
            #expect(isTaken == isGood)
        }
        #expect(noNetworks == TrustedNetworks())
    }
}
