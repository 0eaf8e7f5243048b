import Domain
import Features
import Foundation
import Matches
import Testing

@testable import Settings

@Suite struct CommandLineTests {
    private func parse(_ arguments: [String], _ environment: [String: String] = [:]) throws -> CommandLineParser.Command
    {
        try CommandLineParser(environment: environment).parse(arguments)
    }

    private func errorMessage(_ arguments: [String], _ environment: [String: String] = [:]) throws -> String {
        do {
            return "no error but \(try parse(arguments, environment))"
        } catch let error as UsageError {
            return error.description
        }
    }

    @Test("Without a command the daemon serves") func serveIsWhatHappensWithoutACommand() throws {
        #expect(try parse(["serve", "--echo"]) == parse(["--echo"]))
    }

    @Test(
        "Help is printed whatever else is given",
        arguments: [["--help"], ["-h"], ["serve", "--help"], ["--bogus", "--help"], ["--help", "--version"]])
    func helpIsGivenWhateverElseIsAsked(_ arguments: [String]) throws {
        #expect(try parse(arguments, ["LETSSWITCH_ROOM_SIZE": "many"]) == .help)
    }

    @Test("The version is printed") func theVersionIsTold() throws {
        #expect(try parse(["--version"]) == .version)
        #expect(ProductVersion.text.contains(ProductVersion.number))
        #expect(ProductVersion.text.contains("libpq 1"))
    }

    @Test(
        "An invalid argument is refused by its name",
        arguments: [
            (["--room-size", "many"], "--room-size: \"many\""), (["--room-size=1"], "--room-size: \"1\""),
            (["--room-size", "+5"], "--room-size: \"+5\""), (["--reminder-lead", "0"], "--reminder-lead: \"0\""),
            (["--reminder-lead=1.1d"], "--reminder-lead: \"1.1d\""),
            (["--reminder-lead", "-5"], "--reminder-lead: \"-5\""),
            (["--open-rooms=maybe"], "--open-rooms: \"maybe\""), (["--log-level", "loud"], "--log-level: \"loud\""),
            (["--log-format", "xml"], "--log-format: \"xml\""), (["--listen", "8080"], "--listen: \"8080\""),
            (["--listen", "[::1]:1", "--listen", "[::1]:1"], "--listen: \"[::1]:1\": the address is given twice"),
            (["--state-dir", ""], "--state-dir"), (["--room-size"], "--room-size: a value is missing"),
            (["--room-size", "--echo"], "--room-size: a value is missing"),
            (["--open-rooms", "true"], "unexpected argument \"true\""), (["start"], "unexpected argument \"start\""),
            (["serve", "serve"], "unexpected argument \"serve\""), (["-x"], "unknown flag -x"),
            (["--"], "unknown flag --"),
            (["--frobnicate"], "unknown flag --frobnicate"),
        ])
    func invalidArgumentIsRefusedByItsName(_ arguments: [String], _ beginning: String) throws {
        #expect(try errorMessage(arguments).hasPrefix(beginning))
    }

    @Test("Backup and restore need a file and a private cluster", arguments: ["backup", "restore"])
    func backupAndRestoreWantAFileAndAPrivateCluster(command: String) throws {
        guard case .backup(let order) = try parse([command, "a file", "--state-dir=/state"]) else {
            Issue.record("no backup")
            return
        }
        #expect(order.direction.rawValue == command)
        #expect((order.file, order.stateDirectory) == ("a file", "/state"))
        for arguments in [[], [""], ["--state-dir", "/state"]] {
            #expect(try errorMessage([command] + arguments).hasPrefix("\(command): a file name is missing"))
        }
        #expect(try errorMessage([command, "a", "b"]).hasPrefix("unexpected argument \"b\""))
        let elsewhere = try errorMessage([command, "a"], ["DATABASE_URL": "postgresql://user:secret@host/database"])
        #expect(
            elsewhere.hasPrefix(
                "\(command): this command is for the private cluster only, but the tasks are in postgresql://host/database: "
            ))
    }

    @Test("Commands for a running daemon have their own arguments before the flags")
    func commandsToADaemonThatRuns() throws {
        let room = UUID()
        for (arguments, order) in [
            (["connections"], .connections), (["close", room.uuidString.lowercased()], .close(room)),
            (["kick", "192.0.2.1"], .kick("192.0.2.1")), (["drain"], .drain(perSecond: 100)),
            (["drain", "--rate=7"], .drain(perSecond: 7)),
        ] as [([String], ControlOrder)] {
            #expect(
                try parse(arguments + ["--state-dir", "/state"]) == .control(order, socket: "/state/control.sock"))
            #expect(try RequestFields.decode(ControlOrder.self, from: order.json) == order)
        }
        for (arguments, beginning) in [
            (["close"], "close: the UUID of a room is missing"),
            (["close", "here"], "close: \"here\": must be the UUID of a room"),
            (["kick", "--state-dir", "/state"], "kick: the number of a connection, a device or an address"),
            (["kick", "a", "b"], "unexpected argument \"b\""), (["drain", "--rate", "0"], "--rate: \"0\""),
            (["drain", "--rate"], "--rate: a value is missing"), (["connections", "x"], "unexpected argument"),
        ] { #expect(try errorMessage(arguments).hasPrefix(beginning)) }
    }

    @Test(
        "An unknown flag is answered with the most similar one",
        arguments: [
            ("--reminder-laed", "--reminder-lead"), ("--openrooms", "--open-rooms"), ("--lisen", "--listen"),
            ("--verison", "--version"), ("--state-directory=x", nil),
        ])
    func unknownFlagIsAnsweredWithMostSimilarOne(_ flag: String, _ nearest: String?) throws {
        let errorMessage = try errorMessage([flag])
        if let nearest {
            #expect(errorMessage.contains("did you mean \(nearest)?"))
        } else {
            #expect(!errorMessage.contains("did you mean"))
        }
    }

    @Test(
        "A bad value in the environment is refused by the variable's name",
        arguments: [
            ["LETSSWITCH_ROOM_SIZE": "many"], ["LETSSWITCH_ECHO": "2"], ["LETSSWITCH_LISTEN": "127.0.0.1:1,x"],
            ["PORT": "http"], ["LETSSWITCH_REMINDER_LEAD": "soon"],
        ])
    func badValueInEnvironmentIsRefusedByVariablesName(_ environment: [String: String]) throws {
        let name = try #require(environment.keys.first)
        #expect(try errorMessage([], environment).hasPrefix("\(name): "))
    }

    @Test(
        "A switch accepts words and digits",
        arguments: [
            ("1", true), ("true", true), ("YES", true), ("on", true), ("0", false), ("false", false), ("no", false),
            ("Off", false),
        ])
    func switchAcceptsWordsAndDigits(_ word: String, _ expected: Bool) throws {
        for command in [try parse(["--open-rooms=\(word)"]), try parse([], ["LETSSWITCH_OPEN_ROOMS": word])] {
            var configuration = Configuration()
            configuration.matches.openRooms = expected
            #expect(command == .serve(configuration))
        }
    }

    @Test("A flag overrides a switch of the environment") func flagOverridesSwitchOfEnvironment() throws {
        #expect(try parse(["--echo=false"], ["LETSSWITCH_ECHO": "1"]) == .serve(Configuration()))
    }

    @Test("A mistyped variable gives a warning with the most similar name")
    func mistypedVariableGivesWarningWithMostSimilarName() throws {
        let environment = [
            "LETSSWITCH_REMINDERLEAD": "5", "LETSSWITCH_COLOUR_OF_THE_SKY": "x", "HOME": "/", "LETSSWITCH_ECHO": "1",
        ]
        guard case .serve(let configuration) = try parse([], environment) else {
            Issue.record("not served")
            return
        }
        #expect(
            configuration.warnings == [
                "the environment variable LETSSWITCH_COLOUR_OF_THE_SKY is unknown",
                "the environment variable LETSSWITCH_REMINDERLEAD is unknown (did you mean LETSSWITCH_REMINDER_LEAD?)",
            ])
    }

    @Test("Help names every flag with its default") func helpNamesEveryFlagWithItsDefault() {
        let help = HelpText.render()
        for setting in SettingTable.all {
            #expect(help.contains("\n  \(setting.flag)"))
            #expect(help.contains("\(setting.help) [\(setting.defaultText)]"))
        }
        #expect(help.split(separator: "\n").allSatisfy { $0.count <= 110 })
    }

    @Test("No two settings share a name") func noTwoSettingsShareAName() {
        #expect(Set(SettingTable.all.map(\.name)).count == SettingTable.all.count)
    }
}
