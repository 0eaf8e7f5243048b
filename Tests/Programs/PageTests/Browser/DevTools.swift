import TestSupport

@testable import LetsSwitchClient

/// A connection to a browser over the Chrome DevTools Protocol: calls, and the events of attached pages.
actor DevTools {
    struct Event: Sendable, CustomStringConvertible {
        let method: String
        let parameters: TestJSON

        /// The event with bytes of a response's body, for responses that are streamed.
        static let data = "Network.dataReceived"

        var description: String { "\(method) \(parameters)" }

        var beginsEventStream: Bool {
            method == "Network.responseReceived" && parameters["response"]["mimeType"] == "text/event-stream"
        }
    }

    /// Large enough for a screenshot, which is one message.
    private static let maxMessageBytes = 64 << 20

    private let link: any Link
    private let answers = EventRecorder<TestJSON>()
    private var sessions: [String: EventRecorder<Event>] = [:]
    private var lastID = 0
    /// The event streams whose bytes were requested, by the number of the call that requests them.
    private var streams: [Int: (request: TestJSON, session: String)] = [:]

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
            if let id = json["id"].int {
                guard let stream = streams.removeValue(forKey: id) else {
                    answers.append(json)
                    continue
                }
                note(json["result"]["bufferedData"], of: stream.request, in: stream.session)
            } else if let method = json["method"].string, let session = json["sessionId"].string {
                let event = Event(method: method, parameters: json["params"])
                sessions[session]?.append(event)
                if event.beginsEventStream { await readAlong(event.parameters["requestId"], in: session) }
            }
        }
        answers.finish()
        for recorder in sessions.values { recorder.finish() }
    }

    /// Requests the bytes of an event stream. The answer has the bytes received so far, and comes before all later
    /// ones.
    private func readAlong(_ request: TestJSON, in session: String) async {
        let id = nextID()
        streams[id] = (request, session)
        try? await send("Network.streamResourceContent", ["requestId": request], as: id, session: session)
    }

    private func note(_ bytes: TestJSON, of request: TestJSON, in session: String) {
        sessions[session]?.append(
            Event(method: Event.data, parameters: ["requestId": request, "data": bytes]))
    }

    /// Calls a method of the browser or of an attached page. Returns the result.
    @discardableResult
    func call(
        _ method: String, _ parameters: TestJSON = [:], session: String? = nil,
        within allowed: Duration = Deadline.standard
    ) async throws -> TestJSON {
        let id = nextID()
        try await send(method, parameters, as: id, session: session)
        let answer = try await answers.next("the answer to \(method)", within: allowed) { $0["id"].int == id }
        if let error = answer["error"]["message"].string { throw ClientFailure.violation("\(method): \(error)") }
        return answer["result"]
    }

    private func nextID() -> Int {
        lastID += 1
        return lastID
    }

    private func send(_ method: String, _ parameters: TestJSON, as id: Int, session: String?) async throws {
        let command: TestJSON = [
            "id": .number(Double(id)), "method": .string(method), "params": parameters,
            "sessionId": session.map(TestJSON.string) ?? .absent,
        ]
        try await link.send(.message(.text, try command.encoded()))
    }

    /// Starts recording the events of a page.
    func record(_ session: String) -> EventRecorder<Event> {
        let recorder = EventRecorder<Event>()
        sessions[session] = recorder
        return recorder
    }

    func removeRecorder(_ session: String) {
        sessions[session] = nil
    }
}
