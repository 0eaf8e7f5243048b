package import APIDescription
import Features
import Schema
import Server
package import TestSupport
import Testing

/// Validates each message that the tests receive against the schema in `/schemas/…` that describes it.
package enum InterfaceValidation {
    /// Runs `body`. A message in it that doesn't match its schema fails the test.
    package static func validating<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await MessageValidation.$validator.withValue(
            validator,
            operation: {
                try await MessageValidation.$refusalValidator.withValue(
                    { status, body in
                        if let violation = violation(aboutRefusal: status, body) { Issue.record("\(violation)") }
                    }, operation: body, isolation: isolation)
            }, isolation: isolation)
    }

    /// The examples of all features.
    package static let examples = AnswerExamples(DatabaseSchema.features.compactMap { $0.examples })

    /// The code of the answer if no route has the request's method. No route's description has it.
    private static let codesOfNoRoute: Set = ["method_not_allowed"]

    /// Compares a refusal with its example in `/openapi.json`, except for the varying parts of its reason. Returns the
    /// difference.
    package static func violation(aboutRefusal status: Int, _ body: [UInt8]) -> String? {
        guard let refusal = try? TestJSON(parsing: body), refusal["error"] == true, let code = refusal["code"].string,
            !codesOfNoRoute.contains(code)
        else { return nil }
        guard let examples = self.examples.errors[code] else { return "\(code) has no example in an examples.txt" }
        guard let example = examples[status].flatMap({ try? TestJSON(parsing: $0) }) else {
            return "\(code) comes with \(status), and not \(examples.keys.sorted())"
        }
        return refusal.difference(from: example).map { "\(code) isn't as its example is: \($0)" }
    }

    /// Returns a validator that fails the current test if a message is invalid.
    ///
    /// - Parameter target: The request's target, such as `/questions/6B1D…/socket?live=true`.
    package static func validator(_ target: String) -> MessageValidation.Validator? {
        validator(target) { Issue.record("\($0)") }
    }

    /// - Parameters:
    ///   - target: The request's target, such as `/questions/6B1D…/socket?live=true`.
    ///   - complain: Called with a description of each invalid message.
    package static func validator(_ target: String, _ report: @escaping @Sendable (String) -> Void) -> MessageValidation
        .Validator?
    {
        guard let name = schema(of: target) else { return nil }
        return { event, message in
            guard let violation = violation(about: message, event, name) else { return }
            let text = "\(event.map { "\($0): " } ?? "")\(String(decoding: message, as: UTF8.self))"
            report("\(target) sends what isn't described by /schemas/\(name).json: \(violation). \(text)")
        }
    }

    /// Returns the name of the schema for a target; `nil` if its messages aren't described, such as those of `/echo`.
    package static func schema(of target: String) -> String? {
        let parts = target.split(separator: "?", maxSplits: 1)
        let path = parts.first?.split(separator: "/") ?? []
        switch path {
        // `/socket` without `id` is the open question session.
        case ["socket"]: return parts.count == 2 && parts[1].contains("id=") ? "ale" : "questions"
        case ["cable"]: return "cable"
        case ["conversations", "socket"]: return "conversations"
        case ["reminders"], ["messages"]: return "events"
        default: return path.count == 3 && path.first == "questions" && path.last == "socket" ? "questions" : nil
        }
    }

    /// Each schema is parsed once.
    private static let checks = Dictionary(
        uniqueKeysWithValues: MessageSchemas.documents(of: DatabaseSchema.features.map { $0.messages }).map { schemas in
            (schemas.name, Result { try SchemaCheck(try TestJSON(parsing: schemas.json)) })
        })

    /// Validates a server's message. Returns what is wrong with it.
    package static func violation(about message: [UInt8], _ event: String? = nil, _ name: String) -> String? {
        guard let check = checks[name] else { return "there is no schema \(name)" }
        do {
            return try check.get().violation(about: try TestJSON(parsing: message), as: event ?? "server")
        } catch {
            return "\(error)"
        }
    }
}
