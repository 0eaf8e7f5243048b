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
        case hall
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
        Usage: letsswitch-bench [table | hour | registrations | stored | talk | bus | hall] [flags]

        Measures letsswitchd beside a bare relay, its floor. A frame that is lost or comes twice ends it with status 1; a figure
        beyond what is wanted doesn't.

          table                  every workload of --only; the default
          hour                   8,000 matches due at the same second
          registrations          POST /task and GET /schedule beside pgbench
          stored                 each call into the database with 1,000 and with 1,000,000 tasks and messages stored
          talk                   what is said in conversations: beside pgbench, and on its way to participants
          bus                    two and three daemons on one database, beside what NOTIFY and RabbitMQ carry themselves
          hall                   1,000 people in a session of questions, for a minute

          --daemon PATH          letsswitchd [beside this program]
          --only ID,…            workloads whose ids begin so [all]
          --rounds N             of each server in each workload, in turn [5]
          --seconds S            of a round, beside a fifth of it to warm up [1]
          --quick                one short round of each: shows that all works, measures little
          --offer-compression    the peers offer permessage-deflate
          --daemon-flag FLAG     for the daemon, repeatable: --daemon-flag=--loops=2
          --seed N               of `bus`: which peers go to which daemon; of `hall`: who votes for what [1]
          --json PATH            the results as JSON too
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
