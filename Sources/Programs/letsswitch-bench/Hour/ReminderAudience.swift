import Glibc

/// Devices that listen for their reminders, and an operator that reads `/metrics` again and again. Measures how long
/// after the due instant, at which the reminders are due, each device and the operator see the effect.
struct ReminderAudience: ~Copyable {
    /// Times in seconds, counted from the due instant.
    struct Outcome {
        /// The times from the due instant until each stream received its reminder.
        var waits = LatencyHistogram()
        /// The time when `/metrics` first showed all rooms as open; NaN if it never did.
        var roomsOpenAfter = Double.nan
        var remindersWrittenAfter = Double.nan
        /// The number of open rooms when the listening ended.
        var rooms = 0
        var reminders = 0
    }

    private static let bufferSize = 65_536
    /// The operator connects this many seconds before the due instant. The time is short, because the server closes a
    /// new connection that sends no request.
    private static let operatorLead = 1.0
    /// The time between two requests for the metrics, in seconds.
    private static let interval = 0.02
    private static let event = Array("event: reminder\n".utf8)

    private let server: Server
    private let poller: Poller
    private let sockets: [Int32]
    /// The operator's socket; -1 until ``operatorLead`` before the due instant.
    private var operatorSocket: Int32 = -1
    private let request = LoadRequest.get("/metrics")
    private let wantedRooms: Int
    private let wantedReminders: Int
    private var received: [Int]
    /// The last bytes of each stream, which may contain the beginning of an event.
    private var tails: [[UInt8]]
    private var page: [UInt8] = []

    /// Connects the streams, and waits until each of them is open.
    init(_ server: Server, devices: [String], rooms: Int, reminders: Int) throws(BenchFailure) {
        let poller = try Poller()
        var sockets: [Int32] = []
        for (number, device) in devices.enumerated() {
            let socket = try LoadSocket.connect(port: server.port, source: number)
            let request = LoadRequest.get("/reminders?deviceId=\(device)")
            try LoadSocket.send(request, request.count, to: socket)
            sockets.append(socket)
        }
        for (number, socket) in sockets.enumerated() {
            try Self.awaitOpening(socket)
            try poller.add(socket, number: number)
        }
        self.server = server
        self.poller = poller
        self.sockets = sockets
        wantedRooms = rooms
        wantedReminders = reminders
        received = Array(repeating: 0, count: devices.count)
        tails = Array(repeating: [], count: devices.count)
    }

    deinit {
        for socket in sockets { close(socket) }
        if operatorSocket >= 0 { close(operatorSocket) }
    }

    /// Waits for the first comment, which the server sends when the stream is open.
    private static func awaitOpening(_ socket: Int32) throws(BenchFailure) {
        var bytes: [UInt8] = []
        while !String(decoding: bytes, as: UTF8.self).contains(": reminders") {
            let more = try LoadSocket.receive(from: socket)
            guard !more.isEmpty else {
                throw BenchFailure("a stream doesn't open: \(String(decoding: bytes, as: UTF8.self))")
            }
            bytes += more
        }
    }

    /// Listens until all reminders have arrived, or until `patience` seconds after the due instant. Then listens a
    /// moment longer for surplus reminders. Ends the benchmark if a stream receives two reminders.
    mutating func listen(from due: Double, for patience: Double) throws(BenchFailure) -> Outcome {
        var outcome = Outcome()
        var asksAt = due
        var isAsking = false
        var end = due + patience
        var isComplete = false
        while WallClock.now() < end {
            if operatorSocket < 0, WallClock.now() >= due - Self.operatorLead { try connectOperator() }
            if !isAsking, WallClock.now() >= asksAt {
                try LoadSocket.send(request, request.count, to: operatorSocket)
                isAsking = true
            }
            let count = try poller.wait(milliseconds: 1)
            for index in 0..<count {
                if poller[index] < sockets.count {
                    try receiveReminders(poller[index], from: due, &outcome)
                } else if try read(from: due, &outcome) {
                    isAsking = false
                    asksAt = WallClock.now() + Self.interval
                }
            }
            let isDone = outcome.waits.count >= sockets.count && outcome.roomsOpenAfter < patience
            if isDone, outcome.remindersWrittenAfter < patience, !isComplete {
                isComplete = true
                end = min(end, WallClock.now() + 0.5)
            }
        }
        return outcome
    }

    private mutating func connectOperator() throws(BenchFailure) {
        operatorSocket = try LoadSocket.connect(port: server.port, source: sockets.count)
        try poller.add(operatorSocket, number: sockets.count)
    }

    private mutating func receiveReminders(_ number: Int, from due: Double, _ outcome: inout Outcome)
        throws(BenchFailure)
    {
        var bytes = tails[number]
        bytes += try receive(sockets[number])
        let now = WallClock.now()
        var position = bytes.startIndex
        while position + Self.event.count <= bytes.count {
            if bytes[position...].starts(with: Self.event) {
                received[number] += 1
                outcome.waits.add(nanoseconds: UInt64(max(0, now - due) * 1e9))
                position += Self.event.count
            } else {
                position += 1
            }
        }
        tails[number] = Array(bytes[position...])
        guard received[number] < 2 else { throw BenchFailure("a stream got its reminder twice") }
    }

    /// Reads more of the metrics page. Returns whether it is complete.
    private mutating func read(from due: Double, _ outcome: inout Outcome) throws(BenchFailure) -> Bool {
        page += try receive(operatorSocket)
        guard try HTTPResponse.isWhole(page) else { return false }
        let text = String(decoding: page, as: UTF8.self)
        page = []
        outcome.rooms = Self.metric("letsswitch_rooms_open", in: text)
        outcome.reminders = Self.metric("letsswitch_reminders_total{outcome=\"fired\"}", in: text)
        let now = WallClock.now() - due
        if outcome.roomsOpenAfter.isNaN, outcome.rooms >= wantedRooms { outcome.roomsOpenAfter = now }
        if outcome.remindersWrittenAfter.isNaN, outcome.reminders >= wantedReminders {
            outcome.remindersWrittenAfter = now
        }
        return true
    }

    private static func metric(_ name: String, in text: String) -> Int {
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line?.split(separator: " ").last.flatMap { Double($0) }.map { Int($0) } ?? 0
    }

    private func receive(_ socket: Int32) throws(BenchFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.bufferSize)
        let count = recv(socket, &bytes, bytes.count, 0)
        guard count > 0 else {
            throw count < 0 ? BenchFailure(call: "recv") : BenchFailure("\(server.name) closed a connection")
        }
        return Array(bytes[..<count])
    }
}
