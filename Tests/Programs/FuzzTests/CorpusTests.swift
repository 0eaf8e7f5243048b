import Foundation
import FuzzProperties
import TestSupport
import Testing

/// The inputs that fuzzing collected, replayed without a fuzzer. Their properties must still hold.
@Suite struct CorpusTests {
    @Test("Every input of the corpus keeps the fuzz target's properties", arguments: FuzzTarget.allCases)
    func replay(target: FuzzTarget) async throws {
        let corpora = Checkout.url("Tests/Fuzz/Corpora/\(target.rawValue)")
        let files = try FileManager.default.contentsOfDirectory(at: corpora, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = try Data(contentsOf: file)
            if let broken = await broken(target, bytes) { Issue.record("\(file.lastPathComponent): \(broken)") }
        }
    }

    @Test("`make fuzz` runs each target with its dictionary")
    func makefile() throws {
        for target in FuzzTarget.allCases {
            let dictionary = Checkout.url("Tests/Fuzz/Dictionaries/\(target.rawValue).dict")
            #expect(try !Data(contentsOf: dictionary).isEmpty)
        }
        let names = try #require(try Checkout.text("Makefile").firstMatch(of: /\nFUZZ \?= ([a-z ]+)\n/)).1
        #expect(names.split(separator: " ").map(String.init).sorted() == FuzzTarget.allCases.map(\.rawValue).sorted())
    }

    @Test("An input may be empty or too short", arguments: FuzzTarget.allCases)
    func short(target: FuzzTarget) async {
        for count in 0...2 { #expect(await broken(target, Data(repeating: 0xFF, count: count)) == nil) }
    }

    /// Returns the property that an input breaks. Runs on its own thread, because a target may block until tasks
    /// finish.
    private func broken(_ target: FuzzTarget, _ bytes: Data) async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                do throws(BrokenProperty) {
                    try bytes.withUnsafeBytes { buffer in
                        Result { () throws(BrokenProperty) in try target.check(buffer) }
                    }.get()
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: error.description)
                }
            }
        }
    }
}
