import Crypto
import Foundation
package import Notifications
package import TestSupport

extension APNsSettings {
    /// Returns settings with a new key, in a file of Apple's format.
    package static func forTests(in authority: TestAuthority) async throws -> (APNsSettings, ES256Verifier) {
        let path = "\(authority.directory)/AuthKey_ABC123DEFG.p8"
        try await authority.openssl([
            "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path,
        ])
        var settings = ProviderSettings().apns
        settings.keyFile = path
        settings.keyId = "ABC123DEFG"
        settings.teamId = "DEF123GHIJ"
        settings.topic = "org.example.app"
        let key = try P256PrivateKey(pem: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
        return (settings, ES256Verifier(try P256PublicKey(point: key.publicPoint)))
    }
}
