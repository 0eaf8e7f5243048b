import Glibc

/// The options of the command line.
struct Options {
    enum Command: String, CaseIterable {
        /// All workloads, compared with the relay.
        case table
        /// Many matches that are due at the same second.
        case hour
        /// `POST /task` and `GET /schedule`, compared with pgbench.
        case registrations
        /// Calls into the database with few and with many stored tasks.
        case stored
        /// Conversations.
        case talk
        /// Several daemons on one database.
        case bus
        /// A question session.
        case questions
        /// The baseline, which the other commands start.
        case relay
    }

    var command = Command.table
    /// The path of `letsswitchd`.
    var daemon: String
    /// The number of rounds of each server in each workload.
    var rounds = 5
    /// The measured seconds of a round.
    var seconds = 1.0
    /// Whether all numbers are small, for a trial run.
    var isQuick = false
    /// The prefixes of the ids of the workloads to run. If empty, all workloads run.
    var only: [String] = []
    /// The path of the file for the results as JSON.
    var json: String?
    /// The path of the file for the plans of `stored`.
    var plans: String?
    var offersCompression = false
    /// Further flags for the daemon. They follow the benchmark's own flags.
    var daemonFlags: [String] = []
    /// The seed of `bus`, which determines the distribution of peers.
    var seed: UInt64 = 1
    /// The bus of `relay`, and the relay's place there.
    var relayBus: String?
    /// Whether `relay` pings all peers.
    var relayPings = false
    var wantsHelp = false

    static let help = """
        Usage: letsswitch-bench [table | hour | registrations | stored | talk | bus | questions] [flags]

        Compares letsswitchd with a server that only relays frames, the baseline. A lost or repeated frame ends the run
        with status 1. A missed target doesn't.

          table                  the workloads of --only (the default command)
          hour                   8,000 matches that are due in the same second
          registrations          POST /task and GET /schedule, compared with pgbench
          stored                 each call into the database with 1,000 and with 1,000,000 tasks and messages stored
          talk                   messages in conversations: storing them, compared with pgbench, and delivering them
          bus                    two and three daemons on one database, compared with NOTIFY and RabbitMQ alone
          questions              1,000 people in a session of questions, for a minute

          --daemon PATH          letsswitchd [in this program's directory]
          --only ID,…            the workloads whose ids begin with one of these [all]
          --rounds N             rounds of each server in each workload, in turn [5]
          --seconds S            seconds of a round, after a fifth of that to warm up [1]
          --quick                one short round of each: a test, not a measurement
          --offer-compression    the peers offer permessage-deflate
          --daemon-flag FLAG     a flag of the daemon; can be repeated: --daemon-flag=--loops=2
          --seed N               the random seed. In `bus`: which daemon a peer connects to; in `questions`: votes [1]
          --json PATH            also writes the results to this file, as JSON
          --plans PATH           of `stored`: the plans that PostgreSQL made

        """

    init(_ arguments: [String]) throws(BenchFailure) {
        daemon = Self.besideThis("letsswitchd")
        var rest = arguments[...]
        if let first = rest.first, let command = Command(rawValue: first) {
            self.command = command
            rest.removeFirst()
        }
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            func value() throws(BenchFailure) -> String {
                if parts.count > 1 { return parts[1] }
                guard let next = rest.popFirst() else { throw BenchFailure("\(argument) wants a value") }
                return next
            }
            switch parts.first {
            case "--daemon": daemon = try value()
            case "--only": only = try value().split(separator: ",").map(String.init)
            case "--rounds": rounds = try Self.number(value(), in: 1...1_000)
            case "--seconds": seconds = try Self.number(value(), in: 0.05...3_600)
            case "--quick": (isQuick, rounds, seconds) = (true, 1, 0.1)
            case "--offer-compression": offersCompression = true
            case "--daemon-flag": daemonFlags.append(try value())
            case "--seed": seed = try Self.number(value(), in: 0...UInt64.max)
            case "--relay-bus": relayBus = try value()
            case "--relay-pings": relayPings = true
            case "--json": json = try value()
            case "--plans": plans = try value()
            case "--help": wantsHelp = true
            default: throw BenchFailure("\(argument) is no flag; --help lists them")
            }
        }
    }

    func wants(_ id: String) -> Bool {
        only.isEmpty || only.contains { id.hasPrefix($0) }
    }

    /// Whether any workload whose id begins with `group` is wanted.
    func wantsSome(of group: String) -> Bool {
        only.isEmpty || only.contains { $0.hasPrefix(group) || group.hasPrefix($0) }
    }

    private static func number<Number: LosslessStringConvertible & Comparable>(
        _ text: String, in range: ClosedRange<Number>
    ) throws(BenchFailure) -> Number {
        guard let number = Number(text), range.contains(number) else {
            throw BenchFailure("\(text) is not between \(range.lowerBound) and \(range.upperBound)")
        }
        return number
    }

    /// This program's path.
    static var ownPath: String? {
        var path = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        guard count > 0 else { return nil }
        return String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The path of a program in the same directory.
    private static func besideThis(_ name: String) -> String {
        let parts = (ownPath ?? name).split(separator: "/", omittingEmptySubsequences: false)
        return (parts.dropLast() + [name[...]]).joined(separator: "/")
    }
}
