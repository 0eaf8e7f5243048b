import TestSupport
import Testing

/// The client's WebSocket, judged by Autobahn's test suite, the one that all others are judged by.
@Suite struct AutobahnTests {
    /// `NON-STRICT` is as right as `OK`: where the standard leaves a choice, it is not the one that Autobahn would make.
    private static let passed: Set = ["OK", "NON-STRICT", "INFORMATIONAL"]

    @Test(
        "Every case of Autobahn's fuzzing server but those of compression",
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
