import Crypto
import Wire

/// The service worker's script as it is sent: in one piece, and with what it has to know of the page that it keeps.
struct PageWorker: Sendable {
    let script: [UInt8]

    /// - Parameters:
    ///   - script: Imports `notice.js`, which stands before it; its `BUILD` and `FILES` are empty.
    ///   - notice: The module `notice.js`, which imports `quote.js`.
    ///   - quote: The module `quote.js`.
    ///   - files: By their names below `/page/`.
    /// - Throws: ``CryptoError`` when there is no SHA-256.
    init(script: [UInt8], notice: [UInt8], quote: [UInt8], document: PageAsset, files: [String: PageAsset]) throws {
        let parts = [("/", document)] + files.sorted { $0.key < $1.key }.map { ("/page/\($0.key)", $0.value) }
        // Another build, or other settings in the document: another cache, filled anew.
        let build = try SHA256.digest(parts.flatMap { path, asset in Array("\(path) \(asset.digest)\n".utf8) })
        let paths = parts.map { path, _ in "'\(path)'" }.joined(separator: ", ")
        let text = ScriptBundle.join([quote, notice, script])
            .replacing("const BUILD = ''", with: "const BUILD = '\(Base64.encodeForURL(build.prefix(12)))'")
            .replacing("const FILES = []", with: "const FILES = [\(paths)]")
        self.script = Array(text.utf8)
    }
}
