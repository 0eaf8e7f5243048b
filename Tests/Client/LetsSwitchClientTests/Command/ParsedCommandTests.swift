import LetsSwitchClient
import Testing

@testable import letsswitch

@Suite struct ParsedCommandTests {
    private func read(_ line: String, server: String? = nil) throws(UsageError) -> ParsedCommand {
        let words = line.split(separator: " ").map(String.init)
        return try ParsedCommand(words) { $0 == "LETSSWITCH_SERVER" ? server : nil }
    }

    @Test("Options may be anywhere on the command line")
    func options() throws {
        for line in [
            "promise History --at 09:00 --zone Europe/London --device ada",
            "--device=ada promise --at=09:00 History --zone Europe/London",
            "--zone Europe/London --at 09:00 --device ada -- promise History",
        ] {
            let parsed = try read(line)
            #expect(parsed.command == .promise(title: "History", at: .clock(text: "09:00", seconds: 32_400)))
            #expect(parsed.device == "ada")
            #expect(parsed.zone == "Europe/London")
        }
        #expect(try read("cancel --at 09:00:30").command == .cancel(.at(.clock(text: "09:00:30", seconds: 32_430))))
        #expect(try read("cancel X").command == .cancel(.id("X")))
        #expect(try read("cheer R -n 3").command == .cheer(room: "R", .plain, times: 3))
        #expect(try read("cheer R --kind fire").command == .cheer(room: "R", .fire, times: 1))
        #expect(
            try read("promise X --invite --at 09:00").command
                == .promise(title: "X", at: .clock(text: "09:00", seconds: 32_400), isInviting: true))
        #expect(try read("accept L X --zone UTC").command == .accept(invitation: "L", title: "X"))
        #expect(try read("prefer T").command == .prefer(task: "T"))
        #expect(try read("preferences").command == .preferences)
        #expect(try read("unprefer P").command == .unprefer(preference: "P"))
        #expect(try read("leave T").command == .leave(task: "T"))
        #expect(
            try read("promise X --at 2026-11-22T09:00:00Z").command
                == .promise(title: "X", at: .instant("2026-11-22T09:00:00Z")))
        #expect(
            try read("say bob eve --device ada -- -n is no option").command
                == .say(to: ["bob", "eve"], content: "-n is no option"))
        #expect(try read("listen").command == .listen(session: nil))
        #expect(try read("listen S").command == .listen(session: "S"))
        #expect(try read("name ada").command == .name("ada"))
        #expect(try read("history").command == .history(with: nil, count: 100))
        #expect(try read("history bob -n 3").command == .history(with: ["bob"], count: 3))
        for line in ["", "--help", "watch --help", "help"] {
            #expect(try read(line).command == .help)
            // --help works even if the server's address is invalid.
            #expect(try read(line, server: "no server").command == .help)
        }
    }

    @Test("The server comes from the option, the environment or the default")
    func server() throws {
        #expect(try read("watch").server.description == ParsedCommand.defaultServer)
        #expect(try read("watch", server: "https://a.test").server.description == "https://a.test")
        #expect(try read("watch --server b.test:81", server: "https://a.test").server.description == "http://b.test:81")
    }

    @Test(
        "Invalid arguments are a usage error",
        arguments: [
            "dance", "promise X", "promise --at 09:00", "promise X Y --at 09:00", "promise X --at 25:00",
            "promise X --at 9:00", "promise X --at tomorrow,at,nine", "promise X --at 2026-11-22T09:00",
            "promise X --at 09:00 --at 10:00", "cancel", "watch X", "watch --at 09:00", "join", "cheer R -n 0",
            "cheer R -n x", "cheer R --kind dance", "join R --kind clap", "leave",
            "watch --no-such 1", "watch --device", "watch --server ftp://a", "join R -n 3",
            "say bob", "say bob hello", "say -- hello", "say bob --", "-- say bob", "listen S T", "name", "name a b",
            "history bob -n 101", "history -n 3", "accept L", "accept L X --at 09:00", "prefer", "preferences T",
            "unprefer",
            "cancel T --invite", "promise X --at 09:00 --invite=yes",
        ])
    func usage(line: String) {
        #expect(throws: UsageError.self) { try read(line) }
    }

    @Test("A time of day means its next occurrence, also when the clocks change")
    func days() {
        // 2026-11-22 12:00:00 UTC
        let noon = 1_795_348_800
        #expect(WallTime.day(of: 43_201, zone: "UTC", now: noon) == "2026-11-22")
        #expect(WallTime.day(of: 43_200, zone: "UTC", now: noon) == "2026-11-23")
        #expect(WallTime.day(of: 0, zone: "Pacific/Auckland", now: noon) == "2026-11-24")
        // The evening before London's clocks change, and the end of a year.
        #expect(WallTime.day(of: 0, zone: "Europe/London", now: 1_792_879_200) == "2026-10-25")
        #expect(WallTime.day(of: 0, zone: "UTC", now: 1_798_761_599) == "2027-01-01")
    }

    @Test("A key with several bytes counts once")
    func keys() {
        #expect(KeyPresses.keys(in: Array("1s".utf8)) == Array("1s".utf8))
        #expect(KeyPresses.keys(in: Array("\u{1B}[A\u{1B}[1;5C\u{1B}OP2".utf8)) == [0x1B, 0x1B, 0x1B, 0x32])
        #expect(KeyPresses.keys(in: Array("é3".utf8)) == [0xC3, 0x33])
        #expect(KeyPresses.keys(in: [0x1B]) == [0x1B])
        #expect(KeyPresses.keys(in: [0x1B, 0x03]) == [0x1B, 0x03])
    }
}
