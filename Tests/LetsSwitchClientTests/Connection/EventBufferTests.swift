import Testing

@testable import LetsSwitchClient

@Suite struct EventBufferTests {
    @Test("1,024 events wait, one more doesn't, and none is lost")
    func capacity() throws {
        var buffer = EventBuffer<Int>()
        for event in 0..<1024 { #expect(buffer.append(event)) }
        #expect(!buffer.append(1024))
        buffer.finish(.bufferFull)
        for event in 0..<1024 { #expect(try buffer.next()?.get() == event) }
        #expect(throws: ClientError.bufferFull) { try buffer.next()?.get() }
        // An error comes once; then there is just nothing.
        #expect(try #require(buffer.next()).get() == nil)
    }

    @Test("Events come in order, however they are read, in bounded memory")
    func order() throws {
        var buffer = EventBuffer<Int>(capacity: 4)
        var (written, read) = (0, 0)
        for round in 0..<1000 {
            for _ in 0..<(round % 5) where buffer.append(written) { written += 1 }
            for _ in 0..<(round % 3) {
                guard let next = buffer.next() else { break }
                #expect(try next.get() == read)
                read += 1
            }
        }
        #expect(read > 500)
        #expect(buffer.next() == nil || written > read)
    }
}
