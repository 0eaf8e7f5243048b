import TestSupport

@testable import LetsSwitchClient

/// A connection to a browser by the Chrome DevTools Protocol: calls, and the events of the pages that are attached.
actor DevTools {
    struct Event: Sendable, CustomStringConvertible {
        let method: String
        let parameters: TestJSON

        var description: String { "\(method) \(parameters)" }
    }

    /// A screenshot is one message.
    private static let maxMessageBytes = 64 << 20

    private let link: any Link
    private let answers = EventRecorder<TestJSON>()
    private var sessions: [String: EventRecorder<Event>] = [:]
    private var lastID = 0

    private init(_ link: any Link) {
        self.link = link
    }

    static func connect(to endpoint: ClientEndpoint, _ path: String) async throws -> DevTools {
        var transport = SocketTransport(server: try ServerAddress("\(endpoint)"))
        transport.maxMessageBytes = maxMessageBytes
        let devTools = DevTools(try await transport.webSocket(ClientRequest(target: path), subprotocols: []))
        Task { await devTools.read() }
        return devTools
    }

    private func read() async {
        while let event = try? await link.receive() {
            guard case .message(_, let bytes) = event, let json = try? TestJSON(parsing: bytes) else { continue }
            if json["id"].int != nil {
                answers.append(json)
            } else if let method = json["method"].string, let session = json["sessionId"].string {
                sessions[session]?.append(Event(method: method, parameters: json["params"]))
            }
        }
        answers.finish()
        for recorder in sessions.values { recorder.finish() }
    }

    /// Calls a method, of the browser itself or of an attached page.
    @discardableResult
    func call(
        _ method: String, _ parameters: TestJSON = [:], session: String? = nil,
        within allowed: Duration = Deadline.standard
    ) async throws -> TestJSON {
        lastID += 1
        let id = lastID
        let command: TestJSON = [
            "id": .number(Double(id)), "method": .string(method), "params": parameters,
            "sessionId": session.map(TestJSON.string) ?? .absent,
        ]
        try await link.send(.message(.text, try command.encoded()))
        let answer = try await answers.next("the answer to \(method)", within: allowed) { $0["id"].int == id }
        if let error = answer["error"]["message"].string { throw ClientFailure.violation("\(method): \(error)") }
        return answer["result"]
    }

    /// Begins to keep the events of a page.
    func record(_ session: String) -> EventRecorder<Event> {
        let recorder = EventRecorder<Event>()
        sessions[session] = recorder
        return recorder
    }

    func forget(_ session: String) {
        sessions[session] = nil
    }
}
