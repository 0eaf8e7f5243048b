import Crypto
import TestSupport
import Testing

@testable import Notifications

@Suite struct WebPushProviderTests {
    /// Anybody may register an endpoint, so those on this machine and in private networks are refused.
    @Test("A private address receives nothing")
    func privateAddressReceivesNothing() async throws {
        try await PushRecorder.run { service in
            var settings = WebPushSettings()
            settings.contact = "mailto:ops@example.org"
            let made = WebPushProvider(settings) { _, candidate in candidate }
            let provider = try #require(made)
            let browser = try WebPushReceiver()
            let keys = WebPushKeys(
                publicKey: try .init(point: browser.key.publicPoint), secret: browser.secret)
            let details = WebPushSubscription(endpoint: "", keys: keys).details
            for address in [
                service.url + "/hook/x", "https://127.0.0.1:9/x", "https://[::1]:9/x", "https://10.0.0.1/x",
            ] {
                let outcome = await provider.send(.pushed(.webPush, address: address, details: details))
                #expect(outcome == .refused("the host has a private address"), "\(address)")
            }
            #expect(service.received.all.isEmpty)
            await provider.shutdown()
        }
    }
}
