package import Server

/// A push service that records its requests and answers as the test decides.
package struct PushRecorder: Sendable {
    /// The answers to the next requests, in order, and the answer to all later ones.
    package actor Answers {
        private var scripted: [Response] = []
        // The answer has some content. nghttpx ends an empty answer with a separate frame. libcurl 7.88 doesn't wait
        // for that frame and resets the stream, and nghttpx closes a connection after a thousand resets. Apple's
        // answers end with their head.
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
    /// The newest 10,000 requests.
    package var received: EventRecorder<HTTPRecorder.ReceivedRequest> { recorder.requests }

    package func next() async throws -> HTTPRecorder.ReceivedRequest {
        try await recorder.requests.next("a request to the push service")
    }
}
