import Foundation
import TestSupport
import Testing

/// What Apple's systems build of the library, as far as a build on Linux can tell.
@Suite struct AppleImportsTests {
    /// The lines that import, but for those of a file that is Linux' alone.
    private static func imports(of text: String) -> [String] {
        guard !text.hasPrefix("#if canImport(Glibc)\n") else { return [] }
        return text.split(separator: "\n").map { $0.drop { $0 == " " } }
            .filter { $0.hasPrefix("import ") || $0.hasPrefix("public import ") || $0.hasPrefix("package import ") }
            .compactMap { $0.split(separator: " ").last.map(String.init) }
    }

    @Test("Whatever isn't Linux' alone imports Foundation, and nothing of the repository")
    func imports() throws {
        let sources = Checkout.url("Sources/Client/LetsSwitchClient")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
            .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(files.count > 40)
        for file in files {
            let imports = Self.imports(of: try String(contentsOf: file, encoding: .utf8))
            #expect(
                imports.allSatisfy { ["Foundation", "FoundationEssentials"].contains($0) },
                "\(file.lastPathComponent) imports \(imports)")
        }
    }
}
