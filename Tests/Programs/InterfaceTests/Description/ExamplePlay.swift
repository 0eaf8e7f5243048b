import Foundation
import InterfaceTestSupport
import JourneyTestSupport
import TestSupport
import Testing

/// Sends the examples of a daemon's `/openapi.json` to that daemon, and compares the answers with the examples.
struct ExamplePlay {
    let endpoint: ClientEndpoint
    let routes: DescribedRoutes
    /// The placeholders in examples, and this daemon's values for them.
    var known: [String: String] = [:]
    /// The operations whose example request was sent unchanged.
    private(set) var played: Set<String> = []
    /// The answers, in order.
    private(set) var responses: [(operation: String, status: Int, answer: TestJSON)] = []

    init(at endpoint: ClientEndpoint) async throws {
        self.endpoint = endpoint
        routes = DescribedRoutes(try await endpoint.get("/openapi.json").json())
    }

    /// - Parameters:
    ///   - expected: The status of the answer.
    ///   - path: The values of the path's parameters.
    ///   - query: The query with its question mark.
    ///   - more: Members that the example lacks.
    @discardableResult
    mutating func play(
        _ name: String, _ expected: Int = 200, path: [String: String] = [:], query: String = "",
        headers: TestHeaders = [:], more: [String: TestJSON] = [:]
    ) async throws -> TestJSON {
        let operation = try #require(routes.operations[name], "there is no \(name)")
        var target = operation.path + query
        for (name, value) in path { target = target.replacing("{\(name)}", with: value) }
        let body = try body(of: operation, more)
        let response = try await HTTPTestClient.request(
            at: endpoint, operation.method, target, headers: headers, json: body)
        let answer = try response.json()
        #expect(response.status == expected, "\(name): \(response.text)")
        let described = try #require(operation.answers[response.status], "\(name) may not answer \(response.status)")
        let violation = try routes.check(described["schema"]).violation(about: answer)
        #expect(violation == nil, "\(name) \(response.status): \(violation ?? ""), \(response.text)")
        // When answers are recorded, the old examples are about to be replaced.
        if !AnswerRecord.isWanted, let difference = answer.difference(from: described["example"]) {
            Issue.record("\(name) \(response.status) isn't answered as its example is: \(difference), \(response.text)")
        }
        if more.isEmpty { played.insert(name) }
        responses.append((name, response.status, answer))
        return answer
    }

    private func body(of operation: DescribedRoutes.Operation, _ more: [String: TestJSON]) throws -> TestJSON? {
        guard !operation.body.isAbsent else { return nil }
        var text = String(decoding: try operation.body["example"].encoded(), as: UTF8.self)
        for (example, real) in known { text = text.replacing(example, with: real) }
        let members = try TestJSON(parsing: Array(text.utf8)).object ?? [:]
        return .object(members.merging(more) { _, new in new })
    }
}
