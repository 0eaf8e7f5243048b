import Crypto
import Domain
import Wire

/// The name under which a device's reminders are published. Whoever knows it can read them, so nobody can guess it, and none can
/// be made from it or from the device's id without the server's secret.
enum NtfyTopic {
    /// 144 bits.
    private static let bytes = 18

    /// ntfy's topics are letters, digits, `_` and `-`, 64 at most.
    static func name(of device: DeviceID, secret: [UInt8]) throws(CryptoError) -> String {
        let code = try HMACSHA256.authenticate(Array("ntfy topic\0\(device.text)".utf8), key: secret)
        return "letsswitch-" + Base64.encodeForURL(code.prefix(bytes))
    }
}
