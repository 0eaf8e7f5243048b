import Domain
package import FoundationEssentials
import Glibc
package import Rooms
import Wire

/// A message from a member of a room.
package enum AleMessage: Equatable {
    /// An ale for the room with this id. An unknown kind counts as a plain ale.
    case ale(UUID, CheerKind = .plain)
    /// An invalid message. The text says what is wrong, and is sent back.
    case unknown(String)

    /// Parses a message. JSON in any layout is accepted.
    ///
    /// Almost every message is an ale without white space, which is compared as a whole. Most others are flat objects
    /// of plain strings. Neither form allocates memory. Other messages go through `JSONSyntax`, which decides what is
    /// valid JSON, and `JSONDecoder`.
    package init(_ bytes: UnsafeRawBufferPointer) {
        if let room = Self.plainAle(bytes) {
            self = .ale(room)
            return
        }
        if let members = FlatJSONObject(bytes), let type = members.type {
            self = type.elementsEqual("ale".utf8) ? Self.ale(members) : .unknown(Self.unknownType)
            return
        }
        guard JSONSyntax.isValid(bytes) else {
            self = .unknown("A message must be JSON in UTF-8.")
            return
        }
        do {
            let message = try JSONDecoder().decode(Decoded.self, from: Data(bytes))
            guard message.type == "ale" else {
                self = .unknown(Self.unknownType)
                return
            }
            guard let room = message.id.flatMap(UUID.init(text:)) else {
                self = .unknown(Self.noRoom)
                return
            }
            self = .ale(room, message.kind)
        } catch {
            self = .unknown("A message must be a JSON object whose type and id are strings.")
        }
    }

    static let unknownType = "The type of a message must be ale."
    static let noRoom = "The id of an ale must be the UUID of its room."

    private static func ale(_ members: FlatJSONObject) -> AleMessage {
        guard let room = members.id.flatMap({ UUID(ascii: UnsafeRawBufferPointer(rebasing: $0)) }) else {
            return .unknown(noRoom)
        }
        return .ale(room, members.kind.map { CheerKind(named: $0) } ?? .plain)
    }

    /// Returns the room of `{"type":"ale","id":"<uuid>"}`, with the members in either order. Returns `nil` for other
    /// messages.
    private static func plainAle(_ bytes: UnsafeRawBufferPointer) -> UUID? {
        guard bytes.count == 58 else { return nil }
        if starts(bytes, with: #"{"type":"ale","id":""#), starts(bytes.dropFirst(56), with: #""}"#) {
            return UUID(ascii: UnsafeRawBufferPointer(rebasing: bytes[20..<56]))
        }
        if starts(bytes, with: #"{"id":""#), starts(bytes.dropFirst(43), with: #"","type":"ale"}"#) {
            return UUID(ascii: UnsafeRawBufferPointer(rebasing: bytes[7..<43]))
        }
        return nil
    }

    private static func starts(_ bytes: Slice<UnsafeRawBufferPointer>, with text: StaticString) -> Bool {
        starts(UnsafeRawBufferPointer(rebasing: bytes), with: text)
    }

    private static func starts(_ bytes: UnsafeRawBufferPointer, with text: StaticString) -> Bool {
        guard bytes.count >= text.utf8CodeUnitCount, let start = bytes.baseAddress else { return false }
        return memcmp(start, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    private struct Decoded: Decodable {
        private enum Member: CodingKey {
            case type, id, kind
        }

        let type: String
        let id: String?
        let kind: CheerKind

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Member.self)
            type = try members.decode(String.self, forKey: .type)
            id = try members.decodeIfPresent(String.self, forKey: .id)
            // A kind that isn't a string counts as unknown.
            let name = try? members.decodeIfPresent(String.self, forKey: .kind)
            kind = CheerKind(named: (name ?? "").utf8)
        }
    }
}
