package import Server

/// A push service that writes down what it gets, and answers as the test says.
package struct PushRecorder: Sendable {
    /// The answers to the next requests, in order, then always the same one.
    package actor Answers {
        private var scripted: [Response] = []
        // With some content: nghttpx ends an answer without any by a frame of its own, which libcurl 7.88 doesn't wait for but resets
        // the stream; and after a thousand of those nghttpx ends the connection. (Apple's answer ends with its head.)
        private var fallback = Response.text("ok")

        package func script(_ responses: [Response]) { scripted += responses }

        package func always(_ response: Response) { fallback = response }

        package func next() -> Response { scripted.isEmpty ? fallback : scripted.removeFirst() }
    }

    package let answers: Answers
    private let recorder: HTTPRecorder

    package static func run(_ body: (PushRecorder) async throws -> Void) async throws {
        let answers = Answers()
        try await HTTPRecorder.run(answer: HTTPRecorder.Answer { _ in await answers.next() }) { recorder in
            try await body(PushRecorder(answers: answers, recorder: recorder))
        }
    }

    package var endpoint: ClientEndpoint { recorder.endpoint }
    package var url: String { recorder.url() }
    /// The newest 10,000.
    package var received: EventRecorder<HTTPRecorder.Asked> { recorder.requests }

    package func next() async throws -> HTTPRecorder.Asked {
        try await recorder.requests.next("a request to the push service")
    }
}
