@testable import LetsSwitchClient

/// The state values of a client's connection, with any events in any order. Each byte of the input is an event.
enum ClientProperties {
    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        try checkLife(input)
        try checkTable(input)
        try checkBuffer(input)
    }

    private static let failures: [ClientError] = [
        .closed(.lost, reason: ""), .closed(.normal, reason: ""), .closed(.goingAway, reason: ""),
        .closed(.policyViolation, reason: ""), .unreachable(""), .untrusted(""), .garbled(""),
        .refused(ServerRefusal(status: 503, retryAfter: .seconds(50))), .refused(ServerRefusal(status: 404)),
    ]

    /// There is never more than one connection, an end is reported once, and every wait has a limit.
    private static func checkLife(_ input: FuzzInput) throws(BrokenProperty) {
        let policy = input.option(0) ? ReconnectPolicy(attempts: 2) : .default
        var life = ConnectionLife(policy, silence: .seconds(45), endsAtNormalClosure: input.option(1))
        var (now, isConnected, ends) = (Duration.zero, false, 0)
        for byte in input.content {
            let actions: [ConnectionLife.Action]
            switch byte & 7 {
            case 0: actions = life.begin(at: now)
            case 1:
                actions = []
                life.opened(at: now)
            case 2:
                actions = []
                life.received(at: now)
            case 3, 4:
                let failure = failures[Int(byte >> 3) % failures.count]
                actions = life.ended(failure, at: now, fraction: Double(byte) / 256)
            case 5: actions = byte >> 3 == 0 ? life.cancel(with: .goingAway, at: now) : []
            case 6: actions = byte >> 3 == 0 ? life.fail(.bufferFull) : []
            default:
                now += .seconds(Int(byte >> 3))
                actions = life.timePassed(at: now, fraction: Double(byte) / 256)
            }
            for action in actions {
                try require(ends == 0, "\(action) behind the end")
                switch action {
                case .connect:
                    try require(!isConnected, "a second connection")
                    isConnected = true
                case .drop: isConnected = false
                case .end: ends += 1
                case .reportWaiting(let wait):
                    try require(wait >= .zero && wait <= .seconds(50), "it waits \(wait)")
                    try require(life.deadline == now + wait, "it waits without a time")
                case .close: try require(isConnected, "a farewell to nobody")
                case .ping: try require(isConnected, "a ping to nobody")
                case .reportClosed: break
                }
            }
            try require((life.state == .ended) == (ends == 1), "\(life.state) after \(ends) ends")
            let isTimed = life.state != .idle && life.state != .ended
            try require(isTimed == (life.deadline != nil), "\(life.state) with \(String(describing: life.deadline))")
        }
    }

    /// On each connection exactly the wanted subscriptions are requested, and none before the welcome.
    private static func checkTable(_ input: FuzzInput) throws(BrokenProperty) {
        var table = CableTable()
        var (now, isWelcome) = (Duration.zero, false)
        var wanted: Set<CableTable.Identifier> = []
        for byte in input.content {
            let identifier: CableTable.Identifier = [byte >> 6]
            let commands: [CableTable.Command]
            switch byte & 7 {
            case 0, 1:
                wanted.insert(identifier)
                commands = table.subscribe(identifier, at: now)
            case 2:
                wanted.remove(identifier)
                commands = table.unsubscribe(identifier)
            case 3:
                isWelcome = true
                commands = table.welcomed(at: now)
                try require(Set(commands) == Set(wanted.map { .subscribe($0) }), "it asks for \(commands)")
            case 4:
                commands = []
                try require(!table.confirmed(identifier) || wanted.contains(identifier), "an unwanted one is confirmed")
            case 5:
                commands = []
                if table.rejected(identifier) { wanted.remove(identifier) }
            case 6:
                commands = []
                isWelcome = false
                try require(table.lost().allSatisfy(wanted.contains), "an unwanted one was lost")
            default:
                now += .milliseconds(Int(byte) * 4)
                commands = table.timePassed(at: now)
                try require(table.deadline.map { $0 > now } ?? true, "it has time that is over")
            }
            for command in commands {
                try require(isWelcome, "\(command) before the welcome")
                if case .subscribe(let identifier) = command {
                    try require(wanted.contains(identifier), "it asks for what nobody wants")
                }
            }
            try require(isWelcome || table.deadline == nil, "it waits for an answer without a connection")
        }
    }

    /// Events leave the buffer in the order in which they were added, and a full buffer reports that.
    private static func checkBuffer(_ input: FuzzInput) throws(BrokenProperty) {
        let capacity = 1 + Int(input.options & 7)
        var buffer = EventBuffer<Int>(capacity: capacity)
        var (kept, hasEnded, isTold) = ([Int](), false, false)
        for (number, byte) in input.content.enumerated() {
            switch byte & 3 {
            case 0, 1:
                let isTaken = buffer.append(number)
                try require(isTaken == (!hasEnded && kept.count < capacity), "\(kept.count) of \(capacity) are kept")
                if isTaken { kept.append(number) }
            case 2 where byte >> 4 == 0:
                hasEnded = true
                buffer.finish(.bufferFull)
            default:
                switch buffer.next() {
                case .success(let next?)?: try require(kept.first == next, "\(next) comes out")
                case .success(nil)?: try require(kept.isEmpty && isTold, "it ends early")
                case .failure?:
                    try require(kept.isEmpty && hasEnded && !isTold, "an error comes twice, or early")
                    isTold = true
                case nil: try require(kept.isEmpty && !hasEnded, "nothing comes out")
                }
                if !kept.isEmpty { kept.removeFirst() }
            }
        }
    }
}
