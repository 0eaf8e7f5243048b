import Foundation
import TestSupport
import Testing

/// The layers of `Package.swift`, as the package manager reads them.
@Suite struct LayerTests {
    private struct Manifest: Decodable {
        var targets: [Target]
    }

    private struct Target: Decodable {
        var name: String
        var path: String?
        var dependencies: [[String: [Name?]]]

        /// The layer's folder below `Sources`; `nil` for tests.
        var layer: String? {
            let parts = (path ?? "").split(separator: "/")
            return parts.first == "Sources" && parts.count == 3 ? String(parts[1]) : nil
        }

        /// The targets of this package that the target imports.
        var imports: [String] {
            dependencies.flatMap { $0.values.compactMap { $0.first.flatMap { $0?.text } } }
        }
    }

    /// The name of a dependency, which is the first member of its array. The other members are conditions.
    private struct Name: Decodable {
        var text: String?

        init(from decoder: any Decoder) throws {
            text = try? decoder.singleValueContainer().decode(String.self)
        }
    }

    /// For each layer, the layers that its targets may import.
    private static let allowed: [String: Set<String>] = [
        "Programs": ["Programs", "Operations", "Features", "Core", "Platform", "System", "Client"],
        "Operations": ["Operations", "Features", "Core", "Platform", "System"],
        "Features": ["Features", "Core", "Platform", "System"],
        "Core": ["Core", "Platform", "System"],
        "Platform": ["Platform", "System"],
        "Client": ["Client", "Platform", "System"],
        "System": ["System"],
    ]

    /// Returns each import of a higher layer, as `Importer (layer) → Imported (layer)`.
    private static func upward(_ targets: [Target]) -> [String] {
        let layers = Dictionary(targets.map { ($0.name, $0.layer) }) { first, _ in first }.compactMapValues { $0 }
        return targets.flatMap { target -> [String] in
            guard let layer = target.layer else { return [] }
            return target.imports.compactMap { name in
                guard let other = layers[name], allowed[layer]?.contains(other) != true else { return nil }
                return "\(target.name) (\(layer)) → \(name) (\(other))"
            }
        }
    }

    private static func targets(in json: some DataProtocol) throws -> [Target] {
        try JSONDecoder().decode(Manifest.self, from: Data(json)).targets
    }

    @Test("No target imports one of a higher layer") func package() throws {
        let dump = try Self.dumpPackage()
        let targets = try Self.targets(in: dump)
        #expect(targets.filter { $0.layer != nil }.count > 30)
        #expect(Set(targets.compactMap(\.layer)) == Set(Self.allowed.keys))
        #expect(Self.upward(targets) == [])
    }

    @Test("Every folder of a layer is a target") func folders() throws {
        let known = Set(try Self.targets(in: try Self.dumpPackage()).compactMap(\.path))
        for layer in Self.allowed.keys {
            for name in try FileManager.default.contentsOfDirectory(atPath: Checkout.url("Sources/\(layer)").path)
            where !name.hasPrefix(".") && !name.hasSuffix(".md") {
                #expect(known.contains("Sources/\(layer)/\(name)"))
            }
        }
    }

    @Test("An upward import is found") func found() throws {
        let json = #"""
            {"targets": [
                {"name": "Low", "path": "Sources/Platform/Low", "dependencies": [{"byName": ["High", null]}]},
                {"name": "High", "path": "Sources/Features/High", "dependencies":
                    [{"target": ["Low", {"platformNames": ["linux"]}]}, {"byName": ["Low", null]}]}
            ]}
            """#
        #expect(Self.upward(try Self.targets(in: Data(json.utf8))) == ["Low (Platform) → High (Features)"])
    }

    /// Returns the output of `swift package dump-package`.
    private static func dumpPackage() throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // The command has a scratch folder of its own, because the build's folder is locked while tests run.
        let scratch = FileManager.default.temporaryDirectory.appending(path: "layers-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        process.arguments = [
            "swift", "package", "--package-path", Checkout.root.path, "--scratch-path", scratch, "dump-package",
        ]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return data
    }
}
