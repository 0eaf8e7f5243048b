import Basics
import FoundationEssentials
import Glibc

/// One question session with 1,000 people, each with an open page. In a minute they ask 200 questions and vote 10,000
/// times, at an even rate.
struct QuestionBenchmark {
    private static let minute = (people: 1_000, questions: 200, votes: 10_000, seconds: 60.0)
    private static let moment = (people: 20, questions: 10, votes: 100, seconds: 1.0)
    /// The maximum wait for the last messages, in seconds.
    private static let patience = 10.0

    let laboratory: Laboratory

    func run() throws(BenchFailure) -> Findings {
        let size = laboratory.options.isQuick ? Self.moment : Self.minute
        let daemon = try laboratory.daemon(flags: [], on: laboratory.processors)
        let session = try Self.makeSession(daemon.server)
        let start = MonotonicTime.now()
        var audience = try QuestionAudience(
            daemon.server, session: session, people: size.people, questions: size.questions,
            seed: laboratory.options.seed)
        let connecting = (MonotonicTime.now() - start) / .seconds(1)
        Terminal.note("\(Column.grouped(size.people)) people are in, after \(Column.number(connecting)) s")

        let meter = try ProcessMeter(pid: daemon.server.pid)
        let before = try meter.cpu()
        let begin = MonotonicTime.now()
        try Self.sendLoad(&audience, size.questions, size.votes, for: size.seconds)
        let seconds = (MonotonicTime.now() - begin) / .seconds(1)
        let cpu = try meter.cpu() - before
        let (questions, votes) = (size.people * size.questions, size.people * size.votes)
        let end = MonotonicTime.now() + .seconds(Self.patience)
        while audience.outcome.questions.count < questions || audience.outcome.votes.count < votes,
            MonotonicTime.now() < end
        {
            try audience.listen(until: .now() + .milliseconds(50))
        }

        let outcome = audience.outcome
        var findings = Findings(
            "Questions: \(Column.grouped(size.people)) people in a session, \(size.questions) questions and "
                + "\(Column.grouped(size.votes)) votes in \(Column.number(seconds)) s")
        findings.add("people connected", audience.count, exactly: size.people)
        findings.add("all of them within", connecting, "s", atMost: 30)
        findings.add("questions on pages", outcome.questions.count, exactly: questions)
        findings.add("votes on pages", outcome.votes.count, exactly: votes)
        for (what, waits) in [("question", outcome.questions), ("vote", outcome.votes)] {
            findings.add("\(what) on a page, p50", waits.microseconds(quantile: 0.5) / 1e3, "ms")
            findings.add("\(what) on a page, p99", waits.microseconds(quantile: 0.99) / 1e3, "ms")
            findings.add("\(what) on a page, the slowest", waits.microseconds(quantile: 1) / 1e3, "ms", atMost: 1_000)
        }
        findings.add("to each page", Double(outcome.bytes) / Double(size.people) / seconds / 1e3, "kB/s")
        findings.add("CPU of letsswitchd, of a core", cpu / seconds * 100, "%", atMost: 50)
        return findings
    }

    /// Sends questions and votes, each at an even rate.
    private static func sendLoad(
        _ audience: inout QuestionAudience, _ questions: Int, _ votes: Int, for seconds: Double
    ) throws(BenchFailure) {
        let begin = MonotonicTime.now()
        var (asked, voted) = (0, 0)
        while asked < questions || voted < votes {
            let question = asked < questions ? Double(asked) / Double(questions) : 2
            let vote = voted < votes ? Double(voted) / Double(votes) : 2
            try audience.listen(until: begin + .seconds(min(question, vote) * seconds))
            if question <= vote {
                try audience.ask()
                asked += 1
            } else {
                // No vote is possible before a page shows a question, or after all people have voted for all questions.
                let end = MonotonicTime.now() + .seconds(patience)
                while try !audience.vote() {
                    guard asked < questions || MonotonicTime.now() < end else {
                        throw BenchFailure("nobody has a vote left")
                    }
                    if asked < questions {
                        try audience.ask()
                        asked += 1
                    }
                    try audience.listen(until: .now() + .milliseconds(10))
                }
                voted += 1
            }
        }
        try audience.listen(until: begin + .seconds(seconds))
    }

    private struct Session: Decodable {
        let id: String
    }

    private static func makeSession(_ server: Server) throws(BenchFailure) -> String {
        let socket = try LoadSocket.connect(port: server.port, source: 0)
        defer { close(socket) }
        let request = LoadRequest.post("/questions/sessions", json: #"{"deviceId":"bench","title":"Benchmark"}"#)
        try LoadSocket.send(request, request.count, to: socket)
        var response: [UInt8] = []
        while try !HTTPResponse.isWhole(response) {
            let more = try LoadSocket.receive(from: socket)
            guard !more.isEmpty else { throw BenchFailure("no answer about the session") }
            response += more
        }
        guard let body = response.lastIndex(of: UInt8(ascii: "\n")).map({ Data(response[($0 + 1)...]) }),
            let session = try? JSONDecoder().decode(Session.self, from: body)
        else { throw BenchFailure("no session: \(String(decoding: response, as: UTF8.self))") }
        return session.id
    }
}
