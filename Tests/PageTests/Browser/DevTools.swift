import TestSupport

/// A connection to a browser by the Chrome DevTools Protocol: calls, and the events of the pages that are attached.
actor DevTools {
    struct Event: Sendable, CustomStringConvertible {
        let method: String
        let parameters: TestJSON

        var description: String { "\(method) \(parameters)" }
    }

    private let socket: WebSocketTestClient
    private let answers = EventRecorder<TestJSON>()
    private var sessions: [String: EventRecorder<Event>] = [:]
    private var lastID = 0

    private init(_ socket: WebSocketTestClient) {
        self.socket = socket
    }

    static func connect(to endpoint: ClientEndpoint, _ path: String) async throws -> DevTools {
        let devTools = DevTools(try await WebSocketTestClient.connect(to: endpoint, path))
        Task { await devTools.read() }
        return devTools
    }

    private func read() async {
        while let message = try? await socket.nextMessage(within: .seconds(86_400)) {
            guard let json = try? message.json() else { continue }
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
        try await socket.send(
            json: [
                "id": .number(Double(id)), "method": .string(method), "params": parameters,
                "sessionId": session.map(TestJSON.string) ?? .absent,
            ])
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
