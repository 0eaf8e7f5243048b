import Testing

@testable import Wire

/// Valid streams with random damage. Every way of splitting them has the same outcome, and nothing is read out of
/// bounds.
@Suite struct DamagedInputTests {
    @Test("Damaged requests have the same outcome in every split")
    func requestsHaveOneOutcome() {
        var random = SeededRandom(seed: 1)
        let limits = HTTPLimits(headBytes: 120, targetBytes: 30, fields: 4, bodyBytes: 16, chunkLineBytes: 12)
        let streams = HTTPRequestParserTests.streams.map { Array($0.utf8) } + HTTPRequestRefusalTests.all.map(\.bytes)
        var refused = Set<HTTPParseError>()
        for round in 0..<20 {
            for stream in streams {
                let bytes = damaged(stream, using: &random)
                let limits = round % 2 == 0 ? limits : HTTPLimits()
                let transcripts = someArrivals(of: bytes, using: &random).map { HTTPTranscript($0, limits: limits) }
                #expect(transcripts.allSatisfy { $0 == transcripts[0] }, "\(String(decoding: bytes, as: UTF8.self))")
                if let error = transcripts[0].error { refused.insert(error) }
            }
        }
        #expect(refused.count > 25)
    }

    @Test("Damaged frames have the same outcome in every split")
    func framesHaveOneOutcome() {
        var random = SeededRandom(seed: 2)
        let cases = ConformanceCase.all.filter { $0.bytes.count < 400 }
        var refused = Set<WebSocketError>()
        for round in 0..<10 {
            for example in cases {
                let bytes = damaged(example.bytes, using: &random)
                let transcripts = someArrivals(of: bytes, using: &random).map {
                    WebSocketTranscript(
                        $0, role: round % 8 == 0 ? .client : .server, maxMessageBytes: round % 3 == 0 ? 100 : 5000,
                        compression: round % 5 == 0 ? .init() : example.compression)
                }
                #expect(transcripts.allSatisfy { $0 == transcripts[0] }, "\(bytes)")
                if let error = transcripts[0].error { refused.insert(error) }
            }
        }
        #expect(refused.count > 12)
    }
}
