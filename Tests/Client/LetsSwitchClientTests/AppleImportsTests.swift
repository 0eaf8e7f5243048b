import Foundation
import TestSupport
import Testing

/// Checks on Linux that the library can be built on Apple's systems.
@Suite struct AppleImportsTests {
    /// Returns the import lines of a file, or none if the file is for Linux only.
    private static func imports(of text: String) -> [String] {
        guard !text.hasPrefix("#if canImport(Glibc)\n") else { return [] }
        return text.split(separator: "\n").map { $0.drop { $0 == " " } }
            .filter { $0.hasPrefix("import ") || $0.hasPrefix("public import ") || $0.hasPrefix("package import ") }
            .compactMap { $0.split(separator: " ").last.map(String.init) }
    }

    @Test("Files that aren't for Linux only import Foundation and no other target")
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
