import Crypto
import Pages
import Wire

/// The service worker's script as it is sent: in one piece, with the list of files that it caches.
struct PageWorker: Sendable {
    let script: [UInt8]

    /// - Parameters:
    ///   - script: The worker's script. The script imports `notice.js`, whose text is put before it. Its `BUILD` and
    ///     `FILES` are empty.
    ///   - notice: The module `notice.js`, which imports `quote.js`.
    ///   - quote: The module `quote.js`.
    ///   - files: The files by their names below `/page/`.
    /// - Throws: ``CryptoError`` if SHA-256 is unavailable.
    init(script: [UInt8], notice: [UInt8], quote: [UInt8], document: PageAsset, files: [String: PageAsset]) throws {
        let parts = [("/", document)] + files.sorted { $0.key < $1.key }.map { ("/page/\($0.key)", $0.value) }
        // The name depends on the build and the settings. A new name makes the browser fill its cache again.
        let build = try SHA256.digest(parts.flatMap { path, asset in Array("\(path) \(asset.digest)\n".utf8) })
        let paths = parts.map { path, _ in "'\(path)'" }.joined(separator: ", ")
        let text = ScriptBundle.join([quote, notice, script])
            .replacing("const BUILD = ''", with: "const BUILD = '\(Base64.encodeForURL(build.prefix(12)))'")
            .replacing("const FILES = []", with: "const FILES = [\(paths)]")
        self.script = Array(text.utf8)
    }
}
