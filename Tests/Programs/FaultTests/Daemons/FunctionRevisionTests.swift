import Crypto
import Postgres
import Schema
import Testing

@testable import LetsSwitch

/// The functions in the database, and their revision.
@Suite struct FunctionRevisionTests {
    /// The digest of all functions' text, by their scripts' names.
    private static let pinned = (
        revision: 1,
        digest: "4891aab61c28ec92897dc2cd86d7b323d2a91111a0eb092dadcce7018965c4b2"
    )

    // With the same revision, a daemon of an older build would replace the functions by its own.
    @Test("Changed functions need a higher revision")
    func revision() throws {
        let functions = DatabaseSchema.current.functions
        let text = functions.scripts.sorted { $0.name < $1.name }.map { "\($0.name)\n\($0.sql)" }.joined()
        let digest = try SHA256.digest(Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(
            digest == Self.pinned.digest,
            "raise DatabaseSchema's revision (\(functions.revision)) if it isn't yet, then pin it here with \(digest)")
        #expect(functions.revision == Self.pinned.revision, "and this revision, with the digest of its text")
    }
}
