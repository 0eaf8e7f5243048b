import Crypto
import Domain
import Wire

/// The key of a presenter. Anyone who has it may answer, moderate, announce and close. The key is shown once, and the
/// database stores only its digest.
package struct PresenterKey: Sendable {
    /// The form in links and cookies: 32 bytes in base64 for URLs.
    package let text: String

    package static func random() throws -> PresenterKey {
        PresenterKey(text: Base64.encodeForURL(try RandomBytes.make(32)))
    }

    package init(text: String) {
        self.text = text
    }

    /// Returns the digest that the database stores.
    package func digest() throws -> PresenterKeyDigest {
        PresenterKeyDigest(text: HexText.encode(try SHA256.digest(Array(text.utf8))))
    }
}

/// The SHA-256 digest of a ``PresenterKey``. The key is random, so no slower hash function is needed.
package struct PresenterKeyDigest: Sendable, Hashable {
    /// The digest in hexadecimal.
    package let text: String

    package static func == (left: Self, right: Self) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }
}
