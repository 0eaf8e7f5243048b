import Access
import Basics
import Domain
import Testing
import Wire

@testable import ActionCable

/// The sessions of lost connections that the server remembers.
@Suite struct CableSessionMemoryTests {
    private let a = CableIdentifier("a")
    private let b = CableIdentifier("b")
    private let ada = DeviceID(stored: "ada")
    private let start = MonotonicTime.now()

    @Test("A session continues once, and only for its own identity")
    func restored() {
        var memory = CableSessionMemory()
        #expect(memory.begin("1", of: ada, restoring: nil, at: start).isEmpty)
        for identifier in [a, b, a] { memory.add(identifier, to: "1") }
        memory.remove(b, from: "1")
        #expect(memory.begin("other", of: DeviceID(stored: "bob"), restoring: "1", at: start).isEmpty)
        #expect(memory.begin("2", of: ada, restoring: "1", at: start) == [a])
        memory.leave("1", at: start)
        #expect(memory.begin("3", of: ada, restoring: "1", at: start).isEmpty)
        memory.leave("2", at: start)
        #expect(memory.begin("4", of: ada, restoring: "2", at: start) == [a])
        memory.end("4")
        #expect(memory.begin("5", of: ada, restoring: "4", at: start).isEmpty)
    }

    @Test("A session with subscriptions is kept for five minutes")
    func forgotten() {
        for (pause, expected) in [(Duration.seconds(299), [a]), (.seconds(300), [])] {
            var memory = CableSessionMemory()
            _ = memory.begin("1", of: ada, restoring: nil, at: start)
            memory.add(a, to: "1")
            memory.leave("1", at: start)
            #expect(memory.begin("2", of: ada, restoring: "1", at: start + pause) == expected)
            memory.end("2")
            #expect(memory.count == 0)
        }
        var memory = CableSessionMemory()
        _ = memory.begin("1", of: nil, restoring: nil, at: start)
        memory.leave("1", at: start)
        #expect(memory.count == 0)
    }

    @Test("The oldest sessions are dropped beyond the limit")
    func bound() {
        var memory = CableSessionMemory()
        let long = CableIdentifier([UInt8](repeating: 0x61, count: CableLimits.sessionBytes / 4))
        for name in ["1", "2", "3", "4"] {
            _ = memory.begin(name, of: ada, restoring: nil, at: start)
            memory.add(long, to: name)
            memory.leave(name, at: start)
        }
        #expect(memory.count == 3)
        #expect(memory.begin("5", of: ada, restoring: "1", at: start).isEmpty)
        #expect(memory.begin("6", of: ada, restoring: "2", at: start) == [long])
    }

    @Test("Sessions that continue repeatedly use little memory")
    func wanderers() {
        var memory = CableSessionMemory()
        func leave(_ name: String, restoring last: String?) {
            _ = memory.begin(name, of: ada, restoring: last, at: start)
            memory.add(a, to: name)
            memory.leave(name, at: start)
        }
        leave("stays", restoring: nil)
        for number in 1...1_000 {
            leave("\(number)", restoring: "\(number - 1)")
            #expect(memory.leftCount <= 5)
        }
        // Remembered sessions are kept in the order in which they ended.
        for number in 1...10 { leave("one \(number)", restoring: nil) }
        for number in 1...9 { memory.end("one \(number)") }
        #expect(memory.begin("next", of: ada, restoring: "stays", at: start) == [a])
        #expect(memory.begin("last", of: ada, restoring: "one 10", at: start) == [a])
        for name in ["next", "last", "1000"] { memory.end(name) }
        #expect(memory.count == 0 && memory.leftCount == 0)
    }
}
