import Testing
import Wire

@testable import Server

@Suite struct AddressScopeTests {
    private static let address = IPAddress(high: 0x2001_0db8_1234_5678, low: 9)

    @Test("An IPv6 address is counted by three nested networks")
    func networks() {
        #expect(AddressScope.scopes(of: Self.address) == [.subscriber, .home, .site])
        #expect(AddressScope.subscriber.network(of: Self.address) == Self.address)
        #expect(AddressScope.home.network(of: Self.address) == IPAddress(high: 0x2001_0db8_1234_5600, low: 0))
        #expect(AddressScope.site.network(of: Self.address) == IPAddress(high: 0x2001_0db8_1234_0000, low: 0))
    }

    @Test("A wider network has a larger limit")
    func allowances() {
        let allowances = AddressScope.allCases.map(\.allowances)
        #expect(allowances == allowances.sorted() && allowances.first == 1)
    }
}
