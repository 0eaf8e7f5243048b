import FoundationEssentials

/// What a peer may say in a room.
enum RoomMessage: Equatable {
    /// A cheer, for the room with this id.
    case ale(UUID)
    /// Nothing that we know; the sentence says why, and goes back to the peer.
    case unknown(String)

    /// Understands a message: JSON, in whatever layout.
    ///
    /// Almost every message is a flat object of plain strings, which is understood without allocating anything; the
    /// rest goes through `JSONDecoder`, and so does everything that might be no JSON, so that there is one judge of that.
    init(_ bytes: UnsafeRawBufferPointer) {
        if let members = FlatJSONObject(bytes), let type = members.type {
            self = type.elementsEqual("ale".utf8) ? Self.ale(id: members.id) : .unknown(Self.unknownType)
            return
        }
        do {
            let message = try JSONDecoder().decode(Decoded.self, from: Data(bytes))
            guard message.type == "ale" else {
                self = .unknown(Self.unknownType)
                return
            }
            self = message.id.flatMap(UUID.init(uuidString:)).map(RoomMessage.ale) ?? .unknown(Self.noRoom)
        } catch DecodingError.keyNotFound, DecodingError.typeMismatch, DecodingError.valueNotFound {
            self = .unknown("A message is an object whose type and id are strings.")
        } catch {
            self = .unknown("A message is JSON in UTF-8; this one isn't.")
        }
    }

    static let unknownType = "The type of a message is ale."
    static let noRoom = "The id of an ale is its room's UUID."

    private static func ale(id: Slice<UnsafeRawBufferPointer>?) -> RoomMessage {
        id.flatMap(UUID.init(asciiBytes:)).map(RoomMessage.ale) ?? .unknown(noRoom)
    }

    private struct Decoded: Decodable {
        let type: String
        let id: String?
    }
}

extension UUID {
    /// Parses the 36 characters of a UUID, in either case, without making a string of them.
    init?(asciiBytes bytes: Slice<UnsafeRawBufferPointer>) {
        guard bytes.count == 36 else { return nil }
        var value: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isValid = withUnsafeMutableBytes(of: &value) { target in
            var digits = 0
            for (offset, byte) in bytes.enumerated() {
                if offset == 8 || offset == 13 || offset == 18 || offset == 23 {
                    guard byte == UInt8(ascii: "-") else { return false }
                    continue
                }
                let digit: UInt8
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
                case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
                case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
                default: return false
                }
                target[digits / 2] = target[digits / 2] << 4 | digit
                digits += 1
            }
            return true
        }
        guard isValid else { return nil }
        self.init(uuid: value)
    }
}
