#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Sends a device's requests. Each request is sent only once, because a request without an answer may have taken
/// effect.
struct DeviceRequests: Sendable {
    let transport: any Transport
    let deviceID: String
    /// The header fields that prove the caller's identity.
    let fields: [ClientField]
    let reconnect: ReconnectPolicy

    /// The query parameter `deviceId=…`.
    var identity: String { "deviceId=\(escaped(deviceID))" }

    /// Sends a GET request and returns the answer's body.
    ///
    /// - Parameter target: The path and query, percent-encoded.
    func get(_ target: String) async throws(ClientError) -> [UInt8] {
        try await answer(to: ClientRequest(target: target, fields: fields))
    }

    func delete(_ target: String) async throws(ClientError) -> [UInt8] {
        try await answer(to: ClientRequest(method: "DELETE", target: target, fields: fields))
    }

    func post(_ target: String, _ body: some Encodable) async throws -> [UInt8] {
        let bytes = try Array(JSONEncoder().encode(body))
        let type = ClientField("content-type", "application/json")
        return try await answer(to: ClientRequest(method: "POST", target: target, fields: fields + [type], body: bytes))
    }

    /// Checks that a server answers, with any status.
    func checkReachability() async throws(ClientError) {
        _ = try await transport.exchange(ClientRequest(target: "/healthz"))
    }

    private func answer(to request: ClientRequest) async throws(ClientError) -> [UInt8] {
        let response = try await transport.exchange(request)
        guard (200...299).contains(response.status) else { throw .refused(ServerRefusal(response)) }
        return response.body
    }
}

extension [UInt8] {
    /// Decodes the server's answer.
    ///
    /// - Parameter what: The name of the expected value, for the error message.
    func decoded<Value: Decodable>(as what: String) throws(ClientError) -> Value {
        guard let value = try? WireDate.decoder.decode(Value.self, from: Data(self)) else {
            throw .garbled("it has no \(what)")
        }
        return value
    }
}
