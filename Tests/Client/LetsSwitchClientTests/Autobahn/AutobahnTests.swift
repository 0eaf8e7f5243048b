import TestSupport
import Testing

/// The client's WebSocket, tested by Autobahn's test suite.
@Suite struct AutobahnTests {
    /// `NON-STRICT` is as correct as `OK`: the standard leaves a choice, and Autobahn prefers another one.
    private static let passed: Set = ["OK", "NON-STRICT", "INFORMATIONAL"]

    @Test(
        "The client passes every case of Autobahn's fuzzing server except compression",
        .enabled(
            if: TestBroker.isWanted && PythonPackages.ofAutobahn.areInstalled,
            "it needs Autobahn: make interop-autobahn"))
    func fuzzingServer() async throws {
        let server = try await AutobahnServer.start()
        let count = try await server.caseCount()
        for number in 1...count { try await server.run(number) }
        let verdicts = try await server.verdicts()
        #expect(verdicts.count == count && count > 290)
        for (id, verdict) in verdicts {
            #expect(
                Self.passed.contains(verdict.behavior) && Self.passed.contains(verdict.behaviorClose),
                "\(id): \(verdict)")
        }
        let kinds = Dictionary(grouping: verdicts.values, by: \.behavior).mapValues(\.count)
        print("Autobahn: \(count) cases, \(kinds.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" })")
        try await server.stop()
    }
}
