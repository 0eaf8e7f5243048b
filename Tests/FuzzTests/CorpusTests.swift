import Foundation
import FuzzProperties
import Testing

/// The inputs that fuzzing found worth keeping, read once more: what held once holds still, without a fuzzer.
@Suite struct CorpusTests {
    @Test("Every input of the corpus keeps what is promised", arguments: FuzzTarget.allCases)
    func replay(target: FuzzTarget) throws {
        let corpora = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Fuzz/Corpora/\(target.rawValue)")
        let files = try FileManager.default.contentsOfDirectory(at: corpora, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = try Data(contentsOf: file)
            do throws(BrokenProperty) {
                try bytes.withUnsafeBytes { buffer in
                    Result { () throws(BrokenProperty) in try target.check(buffer) }
                }.get()
            } catch {
                Issue.record("\(file.lastPathComponent): \(error)")
            }
        }
    }

    @Test("An input may be empty, or too short to say how it is to be read", arguments: FuzzTarget.allCases)
    func short(target: FuzzTarget) throws {
        for count in 0...2 {
            try [UInt8](repeating: 0xFF, count: count).withUnsafeBytes { try target.check($0) }
        }
    }
}
