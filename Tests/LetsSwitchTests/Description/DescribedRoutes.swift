import Foundation
import TestSupport

/// The routes of `/openapi.json`, by their operations.
struct DescribedRoutes {
    struct Operation {
        let method: String
        /// `/task/{id}`.
        let path: String
        let description: TestJSON

        /// What is sent along, of those that have a body in JSON.
        var body: TestJSON { description["requestBody"]["content"]["application/json"] }
        /// What is answered in JSON, by status.
        var answers: [Int: TestJSON] {
            var answers: [Int: TestJSON] = [:]
            for (status, answer) in description["responses"].object ?? [:] {
                let media = answer["content"]["application/json"]
                if !media.isAbsent, let status = Int(status) { answers[status] = media }
            }
            return answers
        }
        /// Of these, what isn't a refusal.
        var successes: [Int: TestJSON] { answers.filter { 200..<300 ~= $0.key } }
    }

    /// By `operationId`.
    let operations: [String: Operation]

    init(_ document: TestJSON) {
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

extension TestJSON {
    /// Where it differs from an example in its members or their types; `nil`: nowhere.
    func difference(from example: TestJSON, at place: String = "it") -> String? {
        switch (self, example) {
        case (.object(let members), .object(let others)):
            guard members.keys == others.keys else {
                return "\(place) has \(members.keys.sorted()), and not \(others.keys.sorted())"
            }
            return members.keys.lazy.sorted().compactMap {
                self[$0].difference(from: example[$0], at: "\(place)/\($0)")
            }.first
        case (.array(let elements), .array(let others)):
            guard elements.count == others.count else {
                return "\(place) has \(elements.count) elements, and not \(others.count)"
            }
            return elements.indices.lazy.compactMap {
                elements[$0].difference(from: others[$0], at: "\(place)/\($0)")
            }.first
        case (.string, .string), (.number, .number), (.bool, .bool), (.null, .null): return nil
        default: return "\(place) is \(self), and not like \(example)"
        }
    }
}
