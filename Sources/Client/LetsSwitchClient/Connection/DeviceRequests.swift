#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A device's requests, each sent once: nobody knows of one that was lost whether it took effect.
struct DeviceRequests: Sendable {
    let transport: any Transport
    let deviceID: String
    /// What proves who asks.
    let fields: [ClientField]
    let reconnect: ReconnectPolicy

    /// `deviceId=…`, for a query.
    var identity: String { "deviceId=\(escaped(deviceID))" }

    /// The content of the answer to who may have it.
    ///
    /// - Parameter target: Path and query, percent-encoded.
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

    /// Whatever is answered: somebody is there.
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
    /// What the server's answer says.
    ///
    /// - Parameter what: For the error.
    func decoded<Value: Decodable>(as what: String) throws(ClientError) -> Value {
        guard let value = try? WireDate.decoder.decode(Value.self, from: Data(self)) else {
            throw .garbled("no \(what)")
        }
        return value
    }
}
