package import Domain
package import FoundationEssentials
import Wire

/// An operator's command for a running daemon.
package enum ControlOrder: Sendable, Equatable {
    /// Show the open connections.
    case connections
    /// Close a match's room for all its members.
    case close(UUID)
    /// End one connection, or all connections of a device or an address.
    case kick(String)
    /// Close all connections, at most `perSecond` of them per second.
    case drain(perSecond: Int)
    /// Send a device a test reminder through every stream and provider.
    case remind(DeviceID)
    /// Return all stored data of a device.
    case export(DeviceID)
    /// Erase a device, like `DELETE /device`.
    case erase(DeviceID)

    /// The name of the command on the command line.
    package enum Name: String, Sendable, CaseIterable {
        case connections, close, kick, drain, remind, export, erase
    }

    package var name: Name {
        switch self {
        case .connections: .connections
        case .close: .close
        case .kick: .kick
        case .drain: .drain
        case .remind: .remind
        case .export: .export
        case .erase: .erase
        }
    }

    package static let drainRate = 100
    package static let drainRates = 1...100_000
    /// The maximum length of the name of a connection, a device or an address.
    package static let maximumTargetBytes = 1_024
}

/// The JSON that the command sends to the daemon: `{"command":"kick","target":"192.0.2.1"}`.
extension ControlOrder: Decodable {
    package var json: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("command", name.rawValue)
            switch self {
            case .connections: break
            case .close(let room): object.member("target", room.text)
            case .kick(let target): object.member("target", target)
            case .remind(let device), .export(let device), .erase(let device): object.member("target", device.text)
            case .drain(let rate): object.member("rate", rate)
            }
        }
        return json.bytes
    }

    /// - Throws: `RequestError` that names the invalid field.
    package init(from decoder: any Decoder) throws {
        let fields = try RequestFields(decoder)
        guard let name = Name(rawValue: try fields.text("command")) else {
            throw RequestError.invalid("command", "is unknown to this version of the daemon")
        }
        switch name {
        case .connections: self = .connections
        case .close, .kick, .remind, .export, .erase:
            self = try ControlOrder(name, target: try fields.text("target"))
        case .drain:
            let rate = try fields.optionalInteger("rate") ?? Self.drainRate
            guard Self.drainRates.contains(rate) else {
                throw RequestError.invalid(
                    "rate", "must be from \(Self.drainRates.lowerBound) to \(Self.drainRates.upperBound)")
            }
            self = .drain(perSecond: rate)
        }
    }

    /// - Throws: `RequestError` if the target is invalid.
    init(_ name: Name, target: String) throws(RequestError) {
        switch name {
        case .close:
            guard let room = UUID(text: target) else { throw .invalid("target", "must be the UUID of a room") }
            self = .close(room)
        case .kick:
            guard !target.isEmpty, target.utf8.count <= Self.maximumTargetBytes else {
                throw .invalid("target", "must be the number of a connection, a device or an address")
            }
            self = .kick(target)
        case .remind: self = .remind(try DeviceID(target))
        case .export: self = .export(try DeviceID(target))
        case .erase: self = .erase(try DeviceID(target))
        case .connections: self = .connections
        case .drain: self = .drain(perSecond: Self.drainRate)
        }
    }
}
