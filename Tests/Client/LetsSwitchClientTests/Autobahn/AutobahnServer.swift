import Foundation
import TestSupport

@testable import LetsSwitchClient

/// Autobahn's fuzzing server. It sends valid and invalid frames in hundreds of cases to a client that echoes them, and
/// then reports the client's behaviour.
struct AutobahnServer: Sendable {
    /// Autobahn's verdicts of a case: about the messages, and about the connection's end.
    struct Verdict: Decodable, Sendable {
        let behavior: String
        let behaviorClose: String
    }

    private static let agent = "letsswitch"
    /// The cases of compression, which the client doesn't offer.
    private static let excluded: TestJSON = ["12.*", "13.*"]
    /// The size of Autobahn's longest messages in bytes.
    private static let longestMessage = 16 << 20

    private let transport: SocketTransport
    private let process: ChildProcess
    private let directory: URL

    static func start() async throws -> AutobahnServer {
        let port = try FreePort.find()
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("autobahn-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let settings = directory.appendingPathComponent("settings.json")
        let text: TestJSON = [
            "url": "ws://127.0.0.1:\(port)", "outdir": "\(directory.path)/reports", "cases": ["*"],
            "exclude-cases": excluded, "exclude-agent-cases": [:],
        ]
        try Data(try text.encoded()).write(to: settings)
        // Otherwise it would also serve its reports, at another port.
        let process = try await PythonPackages.ofAutobahn.tool(
            "wstest", ["-m", "fuzzingserver", "-s", settings.path, "-u", "0"])
        var transport = SocketTransport(server: try ServerAddress("127.0.0.1:\(port)"))
        transport.maxMessageBytes = longestMessage
        let server = AutobahnServer(transport: transport, process: process, directory: directory)
        do {
            try await eventually("Autobahn listens", within: .seconds(60)) { (try? await server.caseCount()) != nil }
        } catch {
            throw ClientFailure.violation("Autobahn said \(process.lines.all.map(\.text))")
        }
        return server
    }

    func stop() async throws {
        await process.signal(SIGKILL)
        _ = try await process.waitForExit()
        try FileManager.default.removeItem(at: directory)
    }

    func caseCount() async throws -> Int {
        guard let count = Int(try await text(of: "/getCaseCount")) else {
            throw ClientFailure.violation("no number of cases")
        }
        return count
    }

    /// Echoes the messages of one case until the server ends it.
    func run(_ number: Int) async throws {
        let link = try await open("/runCase?case=\(number)&agent=\(Self.agent)")
        do throws(ClientError) {
            while true {
                guard case .message(let opcode, let bytes) = try await link.receive() else { continue }
                try await link.send(.message(opcode, bytes))
            }
        } catch {
            // The server decides whether this end is correct.
            link.drop()
        }
        _ = try await text(of: "/getCaseStatus?case=\(number)&agent=\(Self.agent)")
    }

    /// The verdicts by the case's number, such as `1.1.1`.
    func verdicts() async throws -> [String: Verdict] {
        let link = try await open("/updateReports?agent=\(Self.agent)")
        // The server closes after it has written the reports.
        while (try? await link.receive()) != nil {}
        link.drop()
        let index = try Data(contentsOf: directory.appendingPathComponent("reports/index.json"))
        return try JSONDecoder().decode([String: [String: Verdict]].self, from: index)[Self.agent] ?? [:]
    }

    private func open(_ target: String) async throws -> any Link {
        try await transport.webSocket(ClientRequest(target: target), subprotocols: [])
    }

    /// Returns the server's message on a separate socket.
    private func text(of target: String) async throws -> String {
        let link = try await open(target)
        defer { link.drop() }
        while true {
            if case .message(_, let bytes) = try await link.receive() { return String(decoding: bytes, as: UTF8.self) }
        }
    }
}
