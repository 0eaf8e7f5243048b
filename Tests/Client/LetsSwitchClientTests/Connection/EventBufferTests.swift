import Testing

@testable import LetsSwitchClient

@Suite struct EventBufferTests {
    @Test("The buffer holds at most 1,024 events and loses none")
    func capacity() throws {
        var buffer = EventBuffer<Int>()
        let taken = (0..<1025).map { buffer.append($0) }
        #expect(taken == Array(repeating: true, count: 1024) + [false])
        buffer.finish(.bufferFull)
        let read = (0..<1026).map { _ in buffer.next() }
        for event in 0..<1024 { #expect(read[event] == .success(event)) }
        // The error is returned once. After that, the end has no error.
        #expect(read[1024...] == [.failure(.bufferFull), .success(nil)])
    }

    @Test("Events are returned in order with bounded memory")
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
        #expect(written >= read)
    }
}
