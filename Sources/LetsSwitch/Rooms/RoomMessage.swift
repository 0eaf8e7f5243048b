package import FoundationEssentials
import Wire

/// What a peer may say in a room.
package enum RoomMessage: Equatable {
    /// A cheer, for the room with this id.
    case ale(UUID)
    /// Nothing that we know; the sentence says why, and goes back to the peer.
    case unknown(String)

    /// Understands a message: JSON, in whatever layout.
    ///
    /// Almost every message is a flat object of plain strings, which is understood without allocating anything; the
    /// rest goes through `JSONSyntax`, the one judge of what is JSON, and `JSONDecoder`.
    package init(_ bytes: UnsafeRawBufferPointer) {
        if let members = FlatJSONObject(bytes), let type = members.type {
            self = type.elementsEqual("ale".utf8) ? Self.ale(id: members.id) : .unknown(Self.unknownType)
            return
        }
        guard JSONSyntax.isValid(bytes) else {
            self = .unknown("A message is JSON in UTF-8; this one isn't.")
            return
        }
        do {
            let message = try JSONDecoder().decode(Decoded.self, from: Data(bytes))
            guard message.type == "ale" else {
                self = .unknown(Self.unknownType)
                return
            }
            self = message.id.flatMap(UUID.init(text:)).map(RoomMessage.ale) ?? .unknown(Self.noRoom)
        } catch {
            self = .unknown("A message is an object whose type and id are strings.")
        }
    }

    static let unknownType = "The type of a message is ale."
    static let noRoom = "The id of an ale is its room's UUID."

    private static func ale(id: Slice<UnsafeRawBufferPointer>?) -> RoomMessage {
        id.flatMap { UUID(ascii: $0) }.map(RoomMessage.ale) ?? .unknown(noRoom)
    }

    private struct Decoded: Decodable {
        let type: String
        let id: String?
    }
}
