package import Foundation

/// An HTTP response as it was received.
package struct TestResponse: Sendable, Equatable {
    package let status: Int
    package let reason: String
    /// `HTTP/1.1` or `HTTP/1.0`.
    package let version: String
    package let headers: TestHeaders
    package internal(set) var body: [UInt8] = []
    /// The statuses of the interim responses (100, 103, …) that came before this one.
    package internal(set) var interimStatuses: [Int] = []

    /// The body as UTF-8; invalid bytes show as U+FFFD.
    package var text: String { String(decoding: body, as: UTF8.self) }

    package func json() throws -> TestJSON { try TestJSON(parsing: body) }

    /// Decodes the body as the app does. Dates are ISO 8601 unless `decoder` says otherwise.
    package func decode<Value: Decodable>(_ type: Value.Type, with decoder: JSONDecoder? = nil) throws -> Value {
        let standard = JSONDecoder()
        standard.dateDecodingStrategy = .iso8601
        return try (decoder ?? standard).decode(type, from: Data(body))
    }

    /// Whether the server keeps the connection (RFC 9112 §9.3).
    package var keepsConnection: Bool {
        let options = headers.tokens(of: "Connection")
        return version == "HTTP/1.1" ? !options.contains("close") : options.contains("keep-alive")
    }
}
