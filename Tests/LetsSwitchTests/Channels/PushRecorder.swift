import Server
import TestSupport

/// A push service that writes down what it gets, and answers as the test says.
struct PushRecorder: Sendable {
    /// What is answered to the next requests, in order; then always the same.
    actor Answers {
        private var scripted: [Response] = []
        // With some content: nghttpx ends an answer without any by a frame of its own, which libcurl 7.88 doesn't wait for but resets
        // the stream; and after a thousand of those nghttpx ends the connection. (Apple's answer ends with its head.)
        private var fallback = Response.text("ok")

        func script(_ responses: [Response]) { scripted += responses }

        func always(_ response: Response) { fallback = response }

        func next() -> Response { scripted.isEmpty ? fallback : scripted.removeFirst() }
    }

    let answers: Answers
    private let recorder: HTTPRecorder

    static func run(_ body: (PushRecorder) async throws -> Void) async throws {
        let answers = Answers()
        try await HTTPRecorder.run(answer: HTTPRecorder.Answer { _ in await answers.next() }) { recorder in
            try await body(PushRecorder(answers: answers, recorder: recorder))
        }
    }

    var endpoint: ClientEndpoint { recorder.endpoint }
    var url: String { recorder.url() }
    /// The newest 10,000.
    var received: EventRecorder<HTTPRecorder.Asked> { recorder.requests }

    func next() async throws -> HTTPRecorder.Asked {
        try await recorder.requests.next("a request to the push service")
    }
}
