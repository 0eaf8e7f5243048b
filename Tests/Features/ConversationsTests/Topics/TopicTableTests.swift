import TestSupport
import Testing

@testable import Conversations
@testable import Domain

@Suite struct TopicTableTests {
    /// A pattern, keys that match it, and keys that don't.
    struct Vector: Sendable, CustomTestStringConvertible {
        let pattern: String
        let matching: [String]
        let others: [String]
        var testDescription: String { pattern }
    }

    private static func key(_ text: String) throws -> RoutingKey { try #require(RoutingKey(text.utf8)) }
    private static func pattern(_ text: String) throws -> BindingPattern { try #require(BindingPattern(text.utf8)) }

    @Test(
        "A key is routed as in RabbitMQ",
        arguments: [
            Vector(
                pattern: "#.user1.#", matching: ["user1", "user3.user1.user5", "user1.user1"],
                others: ["user10", "User1", ""]),
            Vector(pattern: "*.user1", matching: ["user3.user1"], others: ["user1", "a.b.user1"]),
            Vector(pattern: "a.#.b", matching: ["a.b", "a.x.y.b"], others: ["a", "a.bb"]),
            Vector(pattern: "*.#", matching: ["a", "a.b", "."], others: [""]),
            Vector(pattern: "#", matching: ["", "a", "a..b"], others: []),
            Vector(pattern: "#.#", matching: ["", "a"], others: []),
            Vector(pattern: "", matching: [""], others: ["a"]),
            Vector(pattern: "a..b", matching: ["a..b"], others: ["a.b"]),
            Vector(pattern: "a*", matching: ["a*"], others: ["ab"]),
        ])
    func vectors(_ vector: Vector) throws {
        let pattern = try Self.pattern(vector.pattern)
        var table = TopicTable<Int>()
        table.insert(1, for: pattern)
        for key in try vector.matching.map(Self.key) {
            #expect(pattern.matches(key))
            #expect(table.listeners(of: key) == [1])
        }
        for key in try vector.others.map(Self.key) {
            #expect(!pattern.matches(key))
            #expect(table.listeners(of: key).isEmpty)
        }
    }

    @Test("A key has at most 255 bytes")
    func length() {
        #expect(RoutingKey([UInt8](repeating: 97, count: 255)) != nil)
        #expect(RoutingKey([UInt8](repeating: 97, count: 256)) == nil)
        #expect(BindingPattern([UInt8](repeating: 97, count: 256)) == nil)
    }

    @Test("Words that only look alike are different")
    func bytes() throws {
        var table = TopicTable<Int>()
        table.insert(1, for: try Self.pattern("#.caf\u{e9}.#"))
        #expect(table.listeners(of: try Self.key("caf\u{e9}")) == [1])
        #expect(table.listeners(of: try Self.key("cafe\u{301}")).isEmpty)
    }

    @Test(
        "The table finds the same users as single patterns",
        arguments: 0..<32 as Range<UInt64>)
    func random(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        func words(_ alphabet: [String], _ most: Int) -> String {
            (0..<Int.random(in: 0...most, using: &random)).map { _ in
                alphabet[Int.random(in: alphabet.indices, using: &random)]
            }.joined(separator: ".")
        }
        var table = TopicTable<Int>()
        var patterns: [Int: BindingPattern] = [:]
        for listener in 0..<200 {
            let pattern = try Self.pattern(words(["a", "b", "c", "*", "#", ""], 5))
            patterns[listener] = pattern
            let isNew = [table.insert(listener, for: pattern), table.insert(listener, for: pattern)]
            #expect(isNew == [true, false])
            if listener % 3 == 0, let gone = patterns.removeValue(forKey: listener / 2) {
                let wasThere = [table.remove(listener / 2, for: gone), table.remove(listener / 2, for: gone)]
                #expect(wasThere == [true, false])
            }
        }
        #expect(table.count == patterns.count)
        for _ in 0..<100 {
            let key = try Self.key(words(["a", "b", "c", ""], 6))
            #expect(table.listeners(of: key) == Set(patterns.filter { $0.value.matches(key) }.keys))
        }
        for (listener, pattern) in patterns { table.remove(listener, for: pattern) }
        #expect(table.count == 0)
        #expect(table.listeners(of: try Self.key("a.b")).isEmpty)
    }

    @Test("The number of steps for a key doesn't depend on the number of bindings")
    func steps() throws {
        var table = TopicTable<Int>()
        let key = try Self.key("user7.user42.user99")
        for number in 0..<100 { table.insert(number, for: try Self.pattern("#.user\(number).#")) }
        let few = table.find(key)
        for number in 100..<100_000 { table.insert(number, for: try Self.pattern("#.user\(number).#")) }
        let many = table.find(key)
        #expect(few.listeners == [7, 42, 99] && many == few)
        #expect(many.steps < 30)
    }
}
