import Foundation
import InterfaceTestSupport
import JourneyTestSupport
import TestSupport
import Testing

@testable import APIDescription

/// The examples of errors in `/openapi.json` match real answers. ``InterfaceValidation`` compares the errors of all journeys
/// with them.
@Suite struct RefusalExampleTests {
    @Test("Each error code has exactly one example that matches its schema") func table()
        async throws
    {
        try await Journey.run { journey in
            let document = try await OpenAPITests.endpoint(journey).get("/openapi.json").json()
            let examples = try #require(document["components"]["examples"].object)
            var answers =
                document["components"]["responses"].object.map { $0.map { ("any \($0.key)", $0.value) } } ?? []
            let routes = DescribedRoutes(document)
            let check = try routes.check(["$ref": "#/components/schemas/Error"])
            for (name, operation) in routes.operations {
                answers += (operation.description["responses"].object ?? [:]).map { ("\(name) \($0.key)", $0.value) }
            }
            var seen: Set<String> = []
            for (name, answer) in answers {
                let media = answer["content"]["application/json"]
                let codes = Self.codes(in: answer["description"].string ?? "")
                let isError = media["schema"] == ["$ref": "#/components/schemas/Error"]
                let isEither = media["schema"]["anyOf"].array?.contains(["$ref": "#/components/schemas/Error"]) == true
                #expect((isError || isEither) == !codes.isEmpty, "\(name)")
                let references = media["examples"].object ?? [:]
                #expect(Set(references.keys) == Set(codes), "\(name)")
                for (code, reference) in references {
                    #expect(reference["$ref"].string == "#/components/examples/\(code)", "\(name)")
                    let example = examples[code]?["value"] ?? .absent
                    #expect(example["code"].string == code)
                    let violation = check.violation(about: example)
                    #expect(violation == nil, "\(name): \(violation ?? "")")
                    let statuses = InterfaceValidation.examples.errors[code]?.keys.map(String.init)
                    #expect(statuses == [String(name.suffix(3))], "\(name) \(code)")
                    seen.insert(code)
                }
            }
            #expect(seen.count > 50)
            #expect(Set(examples.keys) == seen)
            let codes = document["components"]["schemas"]["ErrorCode"]["enum"].array ?? []
            #expect(Set(codes.compactMap(\.string)) == seen)
        }
    }

    /// Returns the codes at the end of an answer's description.
    private static func codes(in description: String) -> [String] {
        let list = description.firstMatch(of: #/ Codes: ([a-z_, ]+)\.$/#)?.output.1 ?? ""
        return list.split(separator: ", ").map(String.init)
    }

    /// The parts of reasons that vary, besides numbers and instants.
    private static let variable = [
        "not_found": "ale.json, cable.json, conversations.json, events.json, questions.json", "storage_full": "tasks",
        // The reason of this error may name a slot.
        "has_partner": " has",
    ]

    @Test("The reason of each example occurs in the sources") func reasons() throws {
        let sources = try Self.sources()
        for (code, bodies) in InterfaceValidation.examples.errors where code != "invalid_request" {
            for body in bodies.values {
                let reason = try #require(try TestJSON(parsing: body)["reason"].string)
                let fixed = Self.variable[code].map { reason.replacing($0, with: "0") } ?? reason
                let parts = fixed.split(separator: #/[0-9][0-9T:Z.-]*/#).map(String.init)
                #expect(Self.stand(parts, in: sources), "nowhere is said of \(code): \(reason)")
            }
        }
        #expect(!Self.stand(["There is no such tea."], in: sources))
    }

    /// Returns all Swift sources. Sentences that are split over several lines are joined.
    private static func sources() throws -> String {
        let directory = Checkout.url("Sources")
        let files = try #require(FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil))
        var sources = ""
        for case let file as URL in files where file.pathExtension == "swift" {
            sources += try String(contentsOf: file, encoding: .utf8)
        }
        return sources.replacing(#/\\\n */#, with: "")
    }

    /// Whether the parts follow each other in the text, with at most 60 characters between them.
    private static func stand(_ parts: [String], in text: String) -> Bool {
        guard let first = parts.first else { return false }
        var start = text.startIndex
        while let found = text.range(of: first, options: .literal, range: start..<text.endIndex) {
            var end: String.Index? = found.upperBound
            for part in parts.dropFirst() {
                guard let from = end else { break }
                let limit = text.index(from, offsetBy: part.count + 60, limitedBy: text.endIndex) ?? text.endIndex
                end = text.range(of: part, options: .literal, range: from..<limit)?.upperBound
            }
            if end != nil { return true }
            start = found.upperBound
        }
        return false
    }

    @Test("Errors that can be caused without waiting are caused, and match their examples") func play() async throws {
        try await Journey.run { journey in
            let endpoint = try await OpenAPITests.endpoint(journey)
            let id = UUID().uuidString
            for (method, target, body, code) in [
                ("POST", "/task", [:], "invalid_request"), ("GET", "/schemas/tea.json", nil, "not_found"),
                ("DELETE", "/task/\(id)?deviceId=ada", nil, "no_such_task"),
                ("DELETE", "/series/\(id)?deviceId=ada", nil, "no_such_series"),
                ("DELETE", "/blocks/\(id)?deviceId=ada", nil, "no_such_block"),
                ("DELETE", "/preferences/\(id)?deviceId=ada", nil, "no_such_preference"),
                ("GET", "/questions/\(id)/list", nil, "no_such_session"),
                ("GET", "/invitations/\(String(repeating: "a", count: 32))", nil, "no_such_invitation"),
                ("GET", "/cable", nil, "upgrade_required"),
                ("POST", "/conversations", ["deviceId": "ada", "participants": ["bob"]], "name_required"),
            ] as [(String, String, TestJSON?, String)] {
                let answer = try await HTTPTestClient.request(at: endpoint, method, target, json: body)
                let example = try #require(InterfaceValidation.examples.errors[code]?[answer.status])
                #expect(try answer.json() == TestJSON(parsing: example), "\(method) \(target)")
            }
        }
    }

    @Test(
        "An error that differs from its example is reported",
        arguments: [
            (404, #"{"error":true,"code":"no_such_tea","reason":"None."}"#),
            (409, #"{"error":true,"code":"no_such_task","reason":"None."}"#),
            (404, #"{"error":true,"code":"no_such_task","reason":1}"#),
            (404, #"{"error":true,"code":"no_such_task","reason":"None.","more":1}"#),
            (403, #"{"error":true,"code":"room_not_open","reason":"Later."}"#),
        ]) func violations(_ status: Int, _ body: String) async throws
    {
        #expect(InterfaceValidation.violation(aboutRefusal: status, Array(body.utf8)) != nil)
    }

    @Test("Errors that occur in journeys are validated") func validating() async throws {
        try await Journey.run { journey in
            // Journeys have a validator for errors.
            #expect(MessageValidation.refusalValidator != nil)
            let endpoint = try await journey.daemon()
            let received = EventRecorder<String>()
            try await MessageValidation.$refusalValidator.withValue({ status, body in
                received.append("\(status) \((try? TestJSON(parsing: body))?["code"].string ?? "")")
            }) {
                _ = try await endpoint.get("/healthz")
                _ = try await endpoint.get("/nowhere")
            }
            #expect(received.all == ["404 not_found"])
            for (status, body) in [
                (404, #"{"error":true,"code":"no_such_task","reason":"None."}"#), (405, "Not Allowed"), (502, ""),
                (403, #"{"error":true,"code":"room_not_open","reason":"Later.","opensAt":"2026-11-22T09:59:00Z"}"#),
            ] {
                #expect(InterfaceValidation.violation(aboutRefusal: status, Array(body.utf8)) == nil, "\(body)")
            }
        }
    }
}
