import Crypto
import Domain
import Observability
import Server
import Wire

/// Switches reminders by ntfy on and off: `POST /ntfy`, `DELETE /ntfy`.
struct NtfyController: RouteCollection {
    private static let secretName = "ntfy-topics"

    /// The ntfy server that phones subscribe to.
    let server: String
    let addresses: AddressStore
    let log: Log

    func boot(routes: RoutesBuilder) {
        routes.post("ntfy", as: AddressDescriptions.ntfyOn, registers: true, use: switchOn)
        routes.delete("ntfy", as: AddressDescriptions.ntfyOff, use: switchOff)
    }

    @Sendable private func switchOn(_ request: Request) async throws -> Response {
        let device = try DeviceRequest.decode(request.body).device
        // The secret isn't cached, because it is rarely needed, and reading it takes one statement.
        let secret = try await addresses.secret(Self.secretName, candidate: RandomBytes.make(32))
        let topic = try NtfyTopic.name(of: device, secret: secret)
        try await addresses.register(topic, of: device, in: .ntfy, most: 1)
        log.info("ntfy on", ["device": .device(device)])
        var json = JSONText()
        json.object { object in
            object.member("topic", topic)
            object.member("url", "\(server)/\(topic)")
        }
        return .json(json.bytes)
    }

    @Sendable private func switchOff(_ request: Request) async throws -> Response {
        let device = try DeviceID(request.query("deviceId"))
        try await addresses.remove(nil, of: device, in: .ntfy)
        log.info("ntfy off", ["device": .device(device)])
        return .json(Array("{}".utf8))
    }
}
