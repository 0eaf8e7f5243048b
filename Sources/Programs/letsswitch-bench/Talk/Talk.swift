import Basics
import Glibc
import Wire

/// People in conversations, each with a socket. Measures when their messages are stored, and when the other
/// participants receive them.
struct Talk: ~Copyable {
    /// A person in a conversation.
    struct Participant {
        let device: String
        let conversation: String
    }

    private struct Person {
        let socket: Int32
        let conversation: String
        /// The time at which the person's unanswered message was sent.
        var since = MonotonicTime.now()
    }

    private static let mask = WebSocketMask(0x37, 0xFA, 0x21, 0x3D)

    private let server: Server
    private let poller: Poller
    private var people: [Person] = []
    /// The time at which each message was due, by the message's number.
    private var due: [MonotonicTime] = []
    private let reader: FrameReader
    private(set) var stored = LatencyHistogram()
    private(set) var deliveryTimes = LatencyHistogram()
    private(set) var answered = 0
    private var sent = 0
    private var handshakes = 0
    /// The people whose last message is answered.
    private var ready: [Int] = []

    /// Connects all participants, and waits until each connection is upgraded.
    init(_ server: Server, _ participants: [Participant]) throws(BenchFailure) {
        let poller = try Poller()
        let reader = FrameReader(of: server, .text)
        var people: [Person] = []
        for participant in participants {
            let socket = try LoadSocket.connect(port: server.port, source: people.count)
            try poller.add(socket, number: people.count)
            let request = LoadFrame.upgrade(target: "/conversations/socket?deviceId=\(participant.device)")
            try LoadSocket.send(request, request.count, to: socket)
            reader.begin(socket, with: try Self.awaitUpgrade(on: socket))
            people.append(Person(socket: socket, conversation: participant.conversation))
        }
        self.server = server
        self.poller = poller
        self.reader = reader
        self.people = people
    }

    /// - Returns: The bytes that follow the head.
    private static func awaitUpgrade(on socket: Int32) throws(BenchFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            if let head = bytes.withUnsafeBytes({ $0.offset(of: blankLine) }) {
                guard bytes.starts(with: upgraded) else { break }
                return Array(bytes.dropFirst(head + blankLine.count))
            }
            let more = try LoadSocket.receive(from: socket)
            guard !more.isEmpty else { break }
            bytes += more
        }
        throw BenchFailure("not an upgrade: \(String(decoding: bytes.prefix(200), as: UTF8.self))")
    }

    deinit {
        for person in people { close(person.socket) }
    }

    private mutating func awaitPeople() throws(BenchFailure) {
        // Handles the messages that arrived together with the head.
        for number in people.indices {
            try reader.takeBegun(from: people[number].socket) { message throws(BenchFailure) in
                try read(message, number, at: .now())
            }
        }
        let end = MonotonicTime.now() + .seconds(10)
        while handshakes < people.count {
            guard MonotonicTime.now() < end else { throw BenchFailure("\(server.name): a socket has no handshake") }
            try listen(until: .now() + .milliseconds(5))
        }
    }

    // MARK: One message in flight from each person

    /// Runs for `warmUp` seconds, and then measures for `seconds`. Returns when all messages are answered.
    mutating func run(warmUp: Double, seconds: Double) throws(BenchFailure) -> Sample {
        try awaitPeople()
        ready = Array(people.indices)
        try exchange(until: .now() + .seconds(warmUp))
        stored = LatencyHistogram()
        let before = answered
        let watch = try Stopwatch(server)
        try exchange(until: .now() + .seconds(seconds))
        var sample = try watch.stop(work: answered - before)
        sample.latency = stored
        let end = MonotonicTime.now() + .seconds(10)
        while answered < sent {
            guard MonotonicTime.now() < end else { throw BenchFailure("\(sent - answered) messages are not answered") }
            try listen(until: .now() + .milliseconds(5))
        }
        return sample
    }

    private mutating func exchange(until end: MonotonicTime) throws(BenchFailure) {
        repeat {
            let free = ready
            ready = []
            for person in free { try send(by: person, due: .now()) }
            let count = try poller.wait(milliseconds: 100)
            for index in 0..<count { try receive(poller[index]) }
        } while MonotonicTime.now() < end
    }

    // MARK: A constant rate

    /// Sends `rate` messages per second from one person after the other, whether or not earlier messages are answered.
    /// Then waits for the messages in flight.
    ///
    /// - Parameter audience: The number of receivers of each message.
    mutating func run(rate: Double, seconds: Double, audience: Int) throws(BenchFailure) {
        try awaitPeople()
        let (begin, first) = (MonotonicTime.now(), due.count)
        let count = Int(rate * seconds)
        for number in 0..<count {
            let instant = begin + .seconds(Double(number) / rate)
            try listen(until: instant)
            try send(by: number % people.count, due: instant)
        }
        let end = MonotonicTime.now() + .seconds(10)
        while deliveryTimes.count < (first + count) * audience, MonotonicTime.now() < end {
            try listen(until: .now() + .milliseconds(20))
        }
    }

    private mutating func send(by person: Int, due instant: MonotonicTime) throws(BenchFailure) {
        people[person].since = instant
        due.append(instant)
        sent += 1
        var frame: [UInt8] = []
        let text =
            #"{"type":"send","content":"\#(due.count - 1)","conversation":"\#(people[person].conversation)","ref":"r"}"#
        WebSocketFrameEncoder.encode(.text, Array(text.utf8), mask: Self.mask, into: &frame)
        try LoadSocket.send(frame, frame.count, to: people[person].socket)
    }

    // MARK: Receiving

    private mutating func listen(until instant: MonotonicTime) throws(BenchFailure) {
        repeat {
            let count = try poller.wait(until: instant)
            for index in 0..<count { try receive(poller[index]) }
        } while MonotonicTime.now() < instant
    }

    private mutating func receive(_ number: Int) throws(BenchFailure) {
        try reader.receive(from: people[number].socket) { message throws(BenchFailure) in
            try read(message, number, at: .now())
        }
    }

    private mutating func read(_ message: UnsafeRawBufferPointer, _ number: Int, at now: MonotonicTime)
        throws(BenchFailure)
    {
        if message.starts(with: Self.message) {
            guard let place = message.offset(of: Self.content) else {
                throw BenchFailure("a message without content")
            }
            let digits = message[(place + Self.content.count)...].prefix { (0x30...0x39).contains($0) }
            let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            guard !digits.isEmpty, due.indices.contains(number) else { throw BenchFailure("unknown message \(number)") }
            deliveryTimes.add(nanoseconds: now.nanoseconds &- due[number].nanoseconds)
        } else if message.starts(with: Self.sent) {
            answered += 1
            stored.add(nanoseconds: now.nanoseconds &- people[number].since.nanoseconds)
            ready.append(number)
        } else if message.starts(with: Self.handshake) {
            handshakes += 1
        } else if !message.starts(with: Self.presence) {
            throw BenchFailure("not expected from the server: \(String(decoding: message, as: UTF8.self))")
        }
    }

    private static let blankLine = Array("\r\n\r\n".utf8)
    private static let upgraded = Array("HTTP/1.1 101 ".utf8)
    private static let message = Array(#"{"type":"message""#.utf8)
    private static let content = Array(#""content":""#.utf8)
    private static let sent = Array(#"{"type":"sent""#.utf8)
    private static let handshake = Array(#"{"type":"handshake""#.utf8)
    private static let presence = Array(#"{"type":"presence""#.utf8)
}
