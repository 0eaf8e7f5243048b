package import Domain
import Observability
import Server
import Wire

/// Registers a device's push token: `POST /token`.
struct TokenController: RouteCollection {
    let addresses: AddressStore
    let log: Log

    func boot(routes: RoutesBuilder) {
        routes.post("token", as: AddressDescriptions.token, registers: true, use: register)
    }

    @Sendable private func register(_ request: Request) async throws -> Response {
        let token = try TokenRequest.decode(request.body)
        try await addresses.registerToken(token.token, of: token.device, isSandbox: token.isSandbox)
        log.info("token registered", ["device": .device(token.device)])
        return .json(Array("{}".utf8))
    }
}

/// The body of `POST /token`.
package struct TokenRequest: Hashable, Sendable {
    package static let maximumBytes = 200

    package let device: DeviceID
    /// The token in lowercase hexadecimal.
    package let token: String
    /// Whether the token belongs to Apple's sandbox. The request calls this field `debug`.
    package let isSandbox: Bool

    package init(device: DeviceID, token: String, isSandbox: Bool) {
        self.device = device
        self.token = token
        self.isSandbox = isSandbox
    }

    /// Throws `invalid_request` with the name of the invalid field.
    package static func decode(_ body: [UInt8]) throws(RequestError) -> TokenRequest {
        try RequestFields.decode(TokenRequest.self, from: body)
    }
}

extension TokenRequest: Decodable {
    package init(from decoder: any Decoder) throws {
        let members = try RequestFields(decoder)
        device = try DeviceID(members.text("deviceId"))
        let hex = try members.text("token")
        let digits = hex.utf8
        guard !digits.isEmpty, digits.count.isMultiple(of: 2), digits.count <= Self.maximumBytes * 2,
            hex.unicodeScalars.allSatisfy({ $0.isASCII && $0.properties.isASCIIHexDigit })
        else {
            throw RequestError.invalid("token", "must be 1 to \(Self.maximumBytes) bytes in hexadecimal")
        }
        token = hex.lowercased()
        isSandbox = try members.boolean("debug")
    }
}
