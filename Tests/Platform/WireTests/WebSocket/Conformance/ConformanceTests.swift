import Foundation
import Testing

@testable import Wire

@Suite struct ConformanceTests {
    /// The seed is printed and differs in each run. `LETSSWITCH_TEST_SEED` repeats a run.
    private static let seed: UInt64 = {
        let given = ProcessInfo.processInfo.environment["LETSSWITCH_TEST_SEED"].flatMap(UInt64.init)
        let seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
        print("Conformance: split at random with LETSSWITCH_TEST_SEED=\(seed)")
        return seed
    }()

    @Test(
        "The outcome follows the rule in every split",
        arguments: ConformanceCase.all)
    func outcomeFollowsRuleInEverySplit(_ example: ConformanceCase) {
        expect(example, in: [example.bytes], "whole")
        expect(example, in: example.bytes.map { [$0] }, "byte by byte")
        var random = SeededRandom(seed: Self.seed &+ UInt64(example.bytes.count))
        for _ in 0..<8 {
            expect(example, in: randomPieces(of: example.bytes, using: &random), "seed \(Self.seed)")
        }
        guard example.bytes.count <= 64 else { return }
        for place in 0...example.bytes.count {
            expect(example, in: [Array(example.bytes[..<place]), Array(example.bytes[place...])], "split at \(place)")
        }
    }

    private func expect(_ example: ConformanceCase, in pieces: [[UInt8]], _ way: String) {
        let transcript = WebSocketTranscript(pieces, of: example)
        #expect(transcript.events == example.events, "\(way)")
        switch example.end {
        case .open, .closed:
            #expect(transcript.error == nil, "\(way)")
        case .fails(let code, let rule):
            #expect(transcript.error?.code.rawValue == code, "\(way)")
            #expect(transcript.error?.reason.hasPrefix("\(rule)") == true, "\(way): \(transcript.error?.reason ?? "")")
            #expect(transcript.error.map { $0.reason.utf8.count <= 123 } == true)
        }
    }

    @Test(
        "A violation is detected at its first wrong byte",
        arguments: ConformanceCase.all.filter { $0.shownBy != nil })
    func violationIsDetectedAtItsFirstWrongByte(_ example: ConformanceCase) throws {
        let count = try #require(example.shownBy)
        #expect(WebSocketTranscript([Array(example.bytes.prefix(count - 1))], of: example).error == nil)
        #expect(WebSocketTranscript([Array(example.bytes.prefix(count))], of: example).error != nil)
        #expect(example.bytes.count >= count)
    }

    @Test("The list is long and has no duplicate")
    func listIsLongAndHasNoDuplicate() {
        #expect(ConformanceCase.all.count >= 300)
        let names = Dictionary(grouping: ConformanceCase.all, by: \.testDescription)
        #expect(names.filter { $0.value.count > 1 }.keys.sorted() == [])
        #expect(ConformanceCase.all.allSatisfy { $0.section.hasPrefix("RFC ") })
        #expect(ExcludedCase.all.allSatisfy { !$0.reason.isEmpty && !$0.what.isEmpty })
    }
}

extension WebSocketTranscript {
    init(_ pieces: [[UInt8]], of example: ConformanceCase) {
        self.init(
            pieces, role: example.role, maxMessageBytes: example.maxMessageBytes, compression: example.compression)
    }
}
