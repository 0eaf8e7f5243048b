import Crypto

/// What a provider proves itself to Apple with.
struct APNsCredentials: Sendable {
    let keyId: String
    let teamId: String
    let topic: String
    let key: P256PrivateKey
}

extension APNsCredentials {
    /// Reads the key's file. Blocks for as long as that takes.
    ///
    /// - Returns: nil when the channel isn't configured.
    /// - Throws: ``APNsKeyError`` when the file can't be read, or holds no such key.
    init?(_ settings: APNsSettings) throws(APNsKeyError) {
        guard let file = settings.keyFile, let keyId = settings.keyId, let teamId = settings.teamId,
            let topic = settings.topic
        else { return nil }
        let key: P256PrivateKey
        do {
            key = try P256PrivateKey(pem: Array(try SecretFile.read(file).utf8) + [UInt8(ascii: "\n")])
        } catch {
            throw APNsKeyError(file: file, reason: "\(error)")
        }
        self.init(keyId: keyId, teamId: teamId, topic: topic, key: key)
    }
}

/// `--apns-key` names no key that could be used.
package struct APNsKeyError: Error, Sendable, Equatable, CustomStringConvertible {
    let file: String
    let reason: String

    package var description: String { "--apns-key \(file): \(reason)" }
}
