import FoundationEssentials
import Testing

@testable import Rooms

/// The messages between daemons.
@Suite struct RelayMessageTests {
    private static let room = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

    private static let messages: [RelayMessage] = [
        .hello, .goodbye, .pulse(number: 7), .echo(sentAt: .max), .members([], place: [.first, .last], number: 0),
        .members(
            [
                .init(
                    room: room, next: 3,
                    members: RoomMembers(connections: 3, anonymous: 1, people: [UUID(), UUID()])),
                .init(room: UUID(), next: .max, members: RoomMembers()),
            ], place: .whole, number: 9),
        .counting([.init(room: room, next: 1), .init(room: UUID(), next: 2)]),
        .ales([.init(room: room, first: 1, count: 5), .init(room: UUID(), first: 1 << 40, count: .max)]),
        .cheers([
            .init(room: room, first: 1, count: 5, kind: .fire), .init(room: UUID(), first: 6, count: 1, kind: .clap),
        ]),
    ]

    @Test("Messages survive encoding and decoding", arguments: messages)
    func roundTrip(_ message: RelayMessage) throws {
        #expect(try RelayMessage(message.bytes) == message)
    }

    @Test("An ale's encoding is fixed")
    func vector() {
        let bytes = RelayMessage.ales([.init(room: Self.room, first: 0x0102, count: 3)]).bytes
        #expect(bytes == [1, 4] + (0..<16) + [2, 1, 0, 0, 0, 0, 0, 0] + [3, 0, 0, 0])
    }

    @Test("A kind's encoding is fixed, and an unknown kind is plain")
    func kinds() throws {
        let known = RelayMessage.cheers([.init(room: Self.room, first: 0x0102, count: 3, kind: .spark)])
        let bytes: [UInt8] = [1, 8] + (0..<16) + [2, 1, 0, 0, 0, 0, 0, 0] + [3, 0, 0, 0]
        #expect(known.bytes == bytes + [3])
        let unknown = RelayMessage.cheers([.init(room: Self.room, first: 0x0102, count: 3)])
        #expect(try RelayMessage(bytes + [200]) == unknown)
    }

    @Test("A truncated packet is malformed, or a shorter list", arguments: messages)
    func cut(_ message: RelayMessage) {
        let bytes = message.bytes
        for length in 0..<bytes.count {
            let part = try? RelayMessage(Array(bytes.prefix(length)))
            #expect(part != message)
        }
    }

    @Test("Another version and another kind are distinguished")
    func foreign() {
        #expect(throws: RelayMessage.Failure.language(2)) { try RelayMessage([2, 1]) }
        #expect(throws: RelayMessage.Failure.kind(200)) { try RelayMessage([1, 200]) }
        #expect(throws: RelayMessage.Failure.malformed) { try RelayMessage([]) }
    }

    @Test("Numbers that would overflow are malformed")
    func overflow() {
        var bytes = RelayMessage.ales([.init(room: Self.room, first: 0, count: 1)]).bytes
        for index in 18..<26 { bytes[index] = 0xFF }
        #expect(throws: RelayMessage.Failure.malformed) { try RelayMessage(bytes) }
    }

    @Test("People above the limit are counted without names")
    func manyPeople() throws {
        let people = Set((0..<20_000).map { _ in UUID() })
        let others = RelayMessage.Members(
            room: UUID(), next: 2, members: RoomMembers(connections: 3, anonymous: 1, people: [UUID(), UUID()]))
        let message = RelayMessage.members(
            [
                .init(
                    room: Self.room, next: 1,
                    members: RoomMembers(connections: 20_007, anonymous: 7, people: people)),
                others,
            ], place: [], number: 1)
        guard case .members(let rooms, _, _) = try RelayMessage(message.bytes) else { return #expect(Bool(false)) }
        let crowd = try #require(rooms.first?.members)
        #expect(crowd.people.count == RelayMessage.Members.peopleLimit && crowd.people.isSubset(of: people))
        #expect(crowd.anonymous == 7 && crowd.unnamed == 20_000 - RelayMessage.Members.peopleLimit)
        #expect(crowd.headcount == 20_007)
        #expect(rooms.last == others)
        // A message without names isn't forwarded as a message to everybody.
        let again = RelayMessage.members(rooms, place: [], number: 1)
        #expect(try RelayMessage(again.bytes) == again)
    }
}
