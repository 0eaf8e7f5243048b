import Crypto
import Domain
import Wire

/// What makes a presenter: whoever has it may answer, moderate, announce and close. Shown once, and kept as a digest, so that nobody
/// finds it in the database.
package struct PresenterKey: Sendable {
    /// As a link or a cookie has it: 32 bytes in base64 for URLs.
    package let text: String

    package static func random() throws -> PresenterKey {
        PresenterKey(text: Base64.encodeForURL(try RandomBytes.make(32)))
    }

    package init(text: String) {
        self.text = text
    }

    /// By which the database knows it.
    package func digest() throws -> PresenterKeyDigest {
        PresenterKeyDigest(text: HexText.encode(try SHA256.digest(Array(text.utf8))))
    }
}

/// SHA-256 of a ``PresenterKey``. The key is random, so nothing slower is needed.
package struct PresenterKeyDigest: Sendable, Hashable {
    /// Hexadecimal digits.
    package let text: String

    package static func == (left: Self, right: Self) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }
}
