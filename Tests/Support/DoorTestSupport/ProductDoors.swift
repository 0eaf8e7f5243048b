package import TestSupport
import Testing

@testable import APIDescription

/// Which of `/schemas/…` describes what is said at a door, and that all which tests hear there is as described.
package enum ProductDoors {
    /// Whoever connects in here hears nothing that isn't described, or the test fails.
    package static func judged<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async rethrows -> Value {
        try await Doors.$judge.withValue(
            judge,
            operation: {
                try await Doors.$judgeOfRefusals.withValue(
                    { status, body in
                        if let complaint = complaint(aboutRefusal: status, body) { Issue.record("\(complaint)") }
                    }, operation: body, isolation: isolation)
            }, isolation: isolation)
    }

    /// Of what routes alone may answer with, this is missing: it says that there is no route.
    private static let codesOfNoRoute: Set = ["method_not_allowed"]

    /// What is wrong with a refusal: it is to be as its example in `/openapi.json`, but for what differs in its reason.
    package static func complaint(aboutRefusal status: Int, _ body: [UInt8]) -> String? {
        guard let told = try? TestJSON(parsing: body), told["error"] == true, let code = told["code"].string,
            !codesOfNoRoute.contains(code)
        else { return nil }
        guard let examples = AnswerExamples.refusals[code] else { return "\(code) has no example in refusals.txt" }
        guard let example = examples[status].flatMap({ try? TestJSON(parsing: $0) }) else {
            return "\(code) comes with \(status), and not \(examples.keys.sorted())"
        }
        return told.difference(from: example).map { "\(code) isn't as its example is: \($0)" }
    }

    /// Of which a complaint fails the test in which it is made.
    ///
    /// - Parameter target: As it was asked for: `/questions/6B1D…/socket?live=true`.
    package static func judge(_ target: String) -> Doors.Judge? {
        judge(target) { Issue.record("\($0)") }
    }

    /// - Parameters:
    ///   - target: The same.
    ///   - complain: What is said of a message that isn't described.
    package static func judge(_ target: String, _ complain: @escaping @Sendable (String) -> Void) -> Doors.Judge? {
        guard let name = schema(of: target) else { return nil }
        return { event, message in
            guard let complaint = complaint(about: message, event, name) else { return }
            let said = "\(event.map { "\($0): " } ?? "")\(String(decoding: message, as: UTF8.self))"
            complain("\(target) says what isn't described by /schemas/\(name).json: \(complaint). \(said)")
        }
    }

    /// The name of the schemas of what is said there; `nil`: it isn't described, as what `/echo` sends back.
    package static func schema(of target: String) -> String? {
        let parts = target.split(separator: "?", maxSplits: 1)
        let path = parts.first?.split(separator: "/") ?? []
        switch path {
        // Without a room, it is the session of questions that is everybody's.
        case ["socket"]: return parts.count == 2 && parts[1].contains("id=") ? "ale" : "questions"
        case ["cable"]: return "cable"
        case ["conversations", "socket"]: return "conversations"
        case ["reminders"], ["messages"]: return "events"
        default: return path.count == 3 && path.first == "questions" && path.last == "socket" ? "questions" : nil
        }
    }

    /// Each read once.
    private static let checks = SocketSchemas.all.mapValues { schemas in
        Result { try SchemaCheck(try TestJSON(parsing: schemas.json)) }
    }

    /// What is wrong with what a server says.
    package static func complaint(about message: [UInt8], _ event: String? = nil, _ name: String) -> String? {
        guard let check = checks[name] else { return "there is no schema \(name)" }
        do {
            return try check.get().complaint(about: try TestJSON(parsing: message), as: event ?? "server")
        } catch {
            return "\(error)"
        }
    }
}
