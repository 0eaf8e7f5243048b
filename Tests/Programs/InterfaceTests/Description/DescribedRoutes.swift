import Foundation
import TestSupport

/// The routes of `/openapi.json`, by their operations.
struct DescribedRoutes {
    struct Operation {
        let method: String
        /// The path, such as `/task/{id}`.
        let path: String
        let description: TestJSON

        /// The JSON request body, if there is one.
        var body: TestJSON { description["requestBody"]["content"]["application/json"] }
        /// The JSON answers, by status.
        var answers: [Int: TestJSON] {
            var answers: [Int: TestJSON] = [:]
            for (status, answer) in description["responses"].object ?? [:] {
                let media = answer["content"]["application/json"]
                if !media.isAbsent, let status = Int(status) { answers[status] = media }
            }
            return answers
        }
        /// The answers that aren't refusals.
        var successes: [Int: TestJSON] { answers.filter { 200..<300 ~= $0.key } }
    }

    /// The operations by their `operationId`.
    let operations: [String: Operation]
    private let document: TestJSON

    /// Returns a check of values against a schema of the document.
    func check(_ schema: TestJSON) throws -> SchemaCheck { try SchemaCheck(schema, in: document) }

    init(_ document: TestJSON) {
        self.document = document
        var operations: [String: Operation] = [:]
        for (path, item) in document["paths"].object ?? [:] {
            for (method, description) in item.object ?? [:] {
                operations[description["operationId"].string ?? ""] = Operation(
                    method: method.uppercased(), path: path, description: description)
            }
        }
        self.operations = operations
    }
}
