import Basics
import FoundationEssentials
import Glibc
import Wire

/// People in one question session, each with the WebSocket of a page. Measures when each page shows a question or a
/// vote.
struct QuestionAudience: ~Copyable {
    /// The latencies from the moment when a question or vote is sent until a page shows it.
    struct Outcome {
        var questions = LatencyHistogram()
        var votes = LatencyHistogram()
        /// The number of bytes sent to all pages together.
        var bytes = 0
    }

    /// The maximum number of connections that wait for their list at the same time.
    private static let wave = 64
    private static let mask = WebSocketMask(0x37, 0xFA, 0x21, 0x3D)

    /// A question that was asked.
    private struct Asked {
        let at: MonotonicTime
        /// The id from the server, read from the first page that shows the question.
        var id: String?
        /// The times at which votes were sent, in order.
        var votes: [MonotonicTime] = []
    }

    private struct Person {
        let socket: Int32
        /// The person's id in the session.
        let id: String
        /// The numbers of votes that the person's page shows, by question. `nil` if the page doesn't show that question
        /// yet.
        var shown: [Int?]
    }

    private let server: Server
    private let poller: Poller
    private var people: [Person] = []
    private var asked: [Asked] = []
    /// The pairs of a person and a question that the person has voted for. A person has one vote per question.
    private var voted: Set<[Int]> = []
    private var random: SeededRandom
    private let reader: FrameReader
    private(set) var outcome = Outcome()

    /// The address that all people share. The default limits apply to it.
    private static let address = "203.0.113.7"

    /// Connects, and waits until every page has the list.
    init(_ server: Server, session: String, people count: Int, questions: Int, seed: UInt64) throws(BenchFailure) {
        let poller = try Poller()
        let reader = FrameReader(of: server, .binary)
        var sockets: [Int32] = []
        var ids: [String] = []
        while sockets.count < count {
            let first = sockets.count
            for number in first..<min(count, first + Self.wave) {
                let socket = try LoadSocket.connect(port: server.port, source: number)
                sockets.append(socket)
                let request = LoadFrame.upgrade(
                    target: "/questions/\(session)/socket?deviceId=bench-\(number)&live=true", client: Self.address)
                try LoadSocket.send(request, request.count, to: socket)
            }
            for number in first..<sockets.count {
                let (id, rest) = try Self.awaitList(sockets[number])
                ids.append(id)
                reader.begin(sockets[number], with: rest)
                try poller.add(sockets[number], number: number)
            }
        }
        self.server = server
        self.poller = poller
        self.reader = reader
        random = SeededRandom(seed: seed)
        people = sockets.indices.map {
            Person(socket: sockets[$0], id: ids[$0], shown: Array(repeating: nil, count: questions))
        }
    }

    deinit {
        for person in people { close(person.socket) }
    }

    var count: Int { people.count }

    /// Waits for the handshake with the person's id, and then for an empty list and the session's state.
    ///
    /// - Returns: The person's id, and the bytes received after the list.
    private static func awaitList(_ socket: Int32) throws(BenchFailure) -> (id: String, rest: [UInt8]) {
        let session = Array(#"{"type":"session","state":"open"}"#.utf8)
        var bytes: [UInt8] = []
        var end: Int? { bytes.withUnsafeBytes { $0.offset(of: session) }.map { $0 + session.count } }
        while end == nil {
            let more = try LoadSocket.receive(from: socket)
            guard !more.isEmpty else {
                throw BenchFailure("a page's socket doesn't open: \(String(decoding: bytes, as: UTF8.self))")
            }
            bytes += more
        }
        let handshake = Array(#""type":"handshake","id":""#.utf8)
        let id = bytes.indices.first { bytes[$0...].starts(with: handshake) }.map {
            String(decoding: bytes[($0 + handshake.count)...].prefix(36), as: UTF8.self)
        }
        guard let id else { throw BenchFailure("no handshake: \(String(decoding: bytes, as: UTF8.self))") }
        return (id, end.map { Array(bytes[$0...]) } ?? [])
    }

    // MARK: Sending

    /// Sends a question from the next person. Each person asks at most six times a minute.
    mutating func ask() throws(BenchFailure) {
        let number = asked.count
        asked.append(Asked(at: .now()))
        let person = number % people.count
        try send(
            #"{"type":"newQuestion","id":"\#(people[person].id)","content":"Question \#(number)?"}"#, from: person)
    }

    /// Sends a vote from a random person. The person's page must show the question, and the person must not have voted
    /// for it.
    ///
    /// - Returns: Whether there was such a person.
    mutating func vote() throws(BenchFailure) -> Bool {
        guard !asked.isEmpty else { return false }
        for _ in 0..<1_000 {
            let (person, question) = (
                Int.random(in: people.indices, using: &random), Int.random(in: asked.indices, using: &random)
            )
            guard let id = asked[question].id, people[person].shown[question] != nil,
                voted.insert([person, question]).inserted
            else { continue }
            asked[question].votes.append(.now())
            try send(#"{"type":"vote","questionId":"\#(id)"}"#, from: person)
            return true
        }
        return false
    }

    private func send(_ text: String, from person: Int) throws(BenchFailure) {
        var frame: [UInt8] = []
        WebSocketFrameEncoder.encode(.text, Array(text.utf8), mask: Self.mask, into: &frame)
        try LoadSocket.send(frame, frame.count, to: people[person].socket)
    }

    // MARK: What the pages show

    /// Receives messages until `instant`.
    mutating func listen(until instant: MonotonicTime) throws(BenchFailure) {
        repeat {
            let count = try poller.wait(until: instant)
            for index in 0..<count { try receive(poller[index]) }
        } while MonotonicTime.now() < instant
    }

    private mutating func receive(_ number: Int) throws(BenchFailure) {
        try reader.receive(from: people[number].socket) { message throws(BenchFailure) in
            try read(message, number, at: .now())
        }
        outcome.bytes = reader.byteCount
    }

    private mutating func read(_ message: UnsafeRawBufferPointer, _ number: Int, at now: MonotonicTime)
        throws(BenchFailure)
    {
        // Presence messages are ignored.
        if message.starts(with: Self.presence) { return }
        guard message.starts(with: Self.question) else {
            let text = String(decoding: message, as: UTF8.self)
            // The author of a question also receives a response when the question is stored.
            guard text.contains(#""type":"questionResponse","success":true"#) else {
                throw BenchFailure("not expected from the server: \(text)")
            }
            return
        }
        guard let question = Self.number(behind: Self.content, in: message), asked.indices.contains(question),
            let votes = Self.number(behind: Self.votes, in: message), votes <= asked[question].votes.count
        else { throw BenchFailure("a question that nobody asked: \(String(decoding: message, as: UTF8.self))") }
        if asked[question].id == nil {
            asked[question].id = String(decoding: message.dropFirst(Self.question.count).prefix(36), as: UTF8.self)
        }
        let shown = people[number].shown[question]
        if shown == nil { outcome.questions.add(nanoseconds: now.nanoseconds - asked[question].at.nanoseconds) }
        // These are all votes counted by now. The order in which the server counted them is unknown.
        for vote in min(shown ?? 0, votes)..<votes {
            outcome.votes.add(nanoseconds: now.nanoseconds - asked[question].votes[vote].nanoseconds)
        }
        people[number].shown[question] = max(shown ?? 0, votes)
    }

    private static let presence = Array(#"{"type":"presence""#.utf8)
    private static let question = Array(#"{"type":"question","question":{"id":""#.utf8)
    private static let content = Array(#""content":"Question "#.utf8)
    private static let votes = Array(#""votes":"#.utf8)

    /// Returns the number that follows the first occurrence of a text.
    private static func number(behind text: [UInt8], in message: UnsafeRawBufferPointer) -> Int? {
        guard let offset = message.offset(of: text) else { return nil }
        let digits = message[(offset + text.count)...].prefix { (0x30...0x39).contains($0) }
        return digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
