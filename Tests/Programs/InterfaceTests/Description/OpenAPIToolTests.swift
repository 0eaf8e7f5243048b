import Foundation
import JourneyTestSupport
import TestSupport
import Testing

@testable import APIDescription

/// Independent tools accept `/openapi.json`.
@Suite(
    .enabled(if: TestBroker.isWanted, "they are of the long tests: make interop-openapi"),
    .enabled(if: PythonPackages.ofOpenAPI.areInstalled, "\(PythonPackages.ofOpenAPI.hint)"))
struct OpenAPIToolTests {
    @Test("openapi-spec-validator accepts the description") func valid() async throws {
        try await Journey.run { journey in
            let document = try await OpenAPITests.endpoint(journey).get("/openapi.json").json()
            let program = """
                import json, sys
                from openapi_spec_validator import OpenAPIV31SpecValidator
                document = json.loads(sys.stdin.readline())
                print(json.dumps([error.message for error in OpenAPIV31SpecValidator(document).iter_errors()]))
                """
            #expect(try await PythonPackages.ofOpenAPI.run(program, document) == [])
        }
    }

    @Test("schemathesis finds no server error and no answer outside the description") func schemathesis()
        async throws
    {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process([
                "--request-rate", "0", "--write-rate", "0", "--upgrade-rate", "0", "--connection-rate", "0",
                "--registrations-per-day", "0", "--open-questions", "--ntfy-server", "https://ntfy.example",
            ])
            defer { withExtendedLifetime(daemon) {} }
            let arguments = [
                "run", "http://\(endpoint)/openapi.json", "--checks",
                "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
                "--max-examples", "30", "--phases", "examples,coverage,fuzzing", "--seed", "1", "--request-timeout",
                "20",
                "--no-color", "--continue-on-failure", "--suppress-health-check", "all",
                // These streams don't end.
                "--exclude-operation-id", "getReminders", "--exclude-operation-id", "getMessages",
            ]
            let tool = try await PythonPackages.ofOpenAPI.tool("schemathesis", arguments)
            let status = try await tool.waitForExit(within: .seconds(600))
            #expect(status == .exited(0), "\(tool.lines.all.map(\.text).suffix(80).joined(separator: "\n"))")
        }
    }
}
