import Testing

@testable import AMQP

@Suite struct MessageAssemblyTests {
    private let delivery = AMQPDelivery(connection: 1, tag: 7, isRedelivered: false, exchange: "e", routingKey: "k")

    private func add(_ bytes: [UInt8], to assembly: inout MessageAssembly) throws -> AMQPDelivery? {
        try bytes.withUnsafeBytes { try assembly.body($0) }
    }

    @Test("A message is complete with its last part")
    func parts() throws {
        var assembly = MessageAssembly(longestBody: 100)
        for _ in 0..<2 {
            try assembly.begin(delivery)
            let properties = AMQPProperties(messageID: "m")
            #expect(try assembly.header(properties, bodySize: 5) == nil)
            #expect(try add([1, 2], to: &assembly) == nil)
            #expect(try add([], to: &assembly) == nil)
            let whole = try #require(try add([3, 4, 5], to: &assembly))
            #expect(whole.body == [1, 2, 3, 4, 5])
            #expect(whole.properties == properties)
            #expect(whole.routingKey == "k")
        }
    }

    @Test("A message without content is complete with its header")
    func empty() throws {
        var assembly = MessageAssembly(longestBody: 100)
        try assembly.begin(delivery)
        #expect(try assembly.header(AMQPProperties(), bodySize: 0)?.body == [])
    }

    @Test("The content of a message that is too long isn't kept")
    func tooLong() throws {
        var assembly = MessageAssembly(longestBody: 4)
        try assembly.begin(delivery)
        #expect(try assembly.header(AMQPProperties(), bodySize: 5) == nil)
        #expect(try add([1, 2], to: &assembly) == nil)
        let whole = try #require(try add([3, 4, 5], to: &assembly))
        #expect(whole.body == nil)
    }

    @Test("Parts in the wrong order are refused")
    func disorder() throws {
        var assembly = MessageAssembly(longestBody: 100)
        #expect(throws: AMQPError.self) { try assembly.header(AMQPProperties(), bodySize: 1) }
        #expect(throws: AMQPError.self) { try add([1], to: &assembly) }
        try assembly.begin(delivery)
        #expect(throws: AMQPError.self) { try assembly.begin(delivery) }
        #expect(throws: AMQPError.self) { try add([1], to: &assembly) }
        _ = try assembly.header(AMQPProperties(), bodySize: 2)
        #expect(throws: AMQPError.self) { try add([1, 2, 3], to: &assembly) }
    }
}
