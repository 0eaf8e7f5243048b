import AMQP
import Daemons
import Features
import Foundation
import Matches
import Rooms
import Schedule
import Server
import TestSupport
import Testing
import Wire

@testable import Observability
@testable import Settings

@Suite struct ConfigurationTests {
    /// Returns the configuration of these arguments and variables. Fails the test if they ask for something else, such
    /// as help.
    private func configuration(_ arguments: [String] = [], _ environment: [String: String] = [:]) throws
        -> Configuration
    {
        let command = try CommandLineParser(environment: environment).parse(arguments)
        guard case .serve(let configuration) = command else {
            Issue.record("\(command) instead of a configuration")
            return Configuration()
        }
        return configuration
    }

    /// Returns the error that these arguments and variables cause.
    private func errorMessage(_ arguments: [String], _ environment: [String: String] = [:]) throws -> String {
        do {
            return "no error but \(try configuration(arguments, environment))"
        } catch let error as UsageError {
            return error.description
        }
    }

    @Test("Without settings the documented defaults apply") func nothingGivenTheDefaultsOfTheContractHold() throws {
        let configuration = try configuration()
        #expect(configuration.listen == [.tcp(host: "127.0.0.1", port: 8080)])
        #expect(configuration.database == .privateCluster)
        #expect(configuration.stateDirectory == "/var/lib/letsswitch")
        #expect(configuration.loops >= 1)
        #expect(configuration.schedule.reminderLead == .seconds(60))
        #expect(configuration.schedule.roomDuration == .seconds(3600))
        #expect(configuration.drainTimeout == .seconds(10))
        #expect(configuration.schedule.retention == .seconds(2_592_000))
        #expect(configuration.matches.roomSize == 1000)
        #expect(!configuration.matches.openRooms && !configuration.echo)
        #expect(configuration.logLevel == .info && configuration.logFormat == nil)
        #expect(configuration.warnings.isEmpty)
    }

    @Test("A flag overrides its variable, and the variable the default")
    func flagOverridesItsVariable() throws {
        let environment = ["LETSSWITCH_REMINDER_LEAD": "5m", "LETSSWITCH_ROOM_SIZE": "7"]
        let configuration = try configuration(["--reminder-lead", "2s"], environment)
        #expect(configuration.schedule.reminderLead == .seconds(2))
        #expect(configuration.matches.roomSize == 7)
        #expect(configuration.schedule.roomDuration == .seconds(3600))
    }

    @Test("An empty variable counts as not set") func emptyVariableCountsAsNotSet() throws {
        let environment = [
            "LETSSWITCH_LISTEN": "", "LETSSWITCH_ECHO": "", "PORT": "", "DATABASE_URL": "", "PGHOST": "",
            "NOTIFY_SOCKET": "", "STATE_DIRECTORY": "",
        ]
        #expect(try configuration([], environment) == Configuration())
    }

    @Test("`listen` repeats as a flag, and is a list as a variable") func listenRepeatsAsAFlagAndIsAListAsAVariable()
        throws
    {
        let expected: [ListenAddress] = [.tcp(host: "::1", port: 1), .unix(path: "/run/a.sock")]
        #expect(try configuration(["--listen", "[::1]:1", "--listen=unix:/run/a.sock"]).listen == expected)
        for separator in [",", " ", ", "] {
            let text = "[::1]:1\(separator)unix:/run/a.sock"
            #expect(try configuration([], ["LETSSWITCH_LISTEN": text]).listen == expected)
        }
    }

    @Test("Proxies and origins are lists in every form")
    func proxiesAndOriginsAreListsHoweverTheyAreGiven() throws {
        var proxies = TrustedNetworks()
        for network in ["10.0.0.0/8", "unix"] { proxies.insert(network) }
        for arguments in [["10.0.0.0/8,unix"], ["10.0.0.0/8", "--trusted-proxies=unix"], ["10.0.0.0/8, unix"]] {
            #expect(try configuration(["--trusted-proxies"] + arguments).trustedProxies == proxies)
        }
        #expect(try configuration([], ["LETSSWITCH_TRUSTED_PROXIES": "10.0.0.0/8 unix"]).trustedProxies == proxies)
        #expect(try configuration(["--trusted-proxies", "none"]).trustedProxies == TrustedNetworks())
        #expect(try configuration().trustedProxies == .thisMachine)
        #expect(try configuration(["--allowed-origins", "*"]).allowedOrigins.includesAll)
        let origins = try configuration(["--allowed-origins", "https://a.example,http://b.example:8080"]).allowedOrigins
        #expect(origins.areSeveral && origins != AllowedOrigins())
        for (flag, value) in [
            ("--trusted-proxies", "10.0.0.1/8"), ("--trusted-proxies", "proxy.example"), ("--trusted-proxies", ","),
            ("--allowed-origins", "example.org"), ("--allowed-origins", "https://example.org/"),
            ("--allowed-origins", ""), ("--hosts", "example.org:80"), ("--hosts", "https://example.org"),
            ("--hosts", "*a.example.org"), ("--hosts", ".example.org"),
            ("--allowed-origins", "https://*"), ("--allowed-origins", "https://a.*.org"),
            ("--operations-listen", "9464"),
        ] {
            #expect(try errorMessage([flag, value]).hasPrefix("\(flag): "))
        }
    }

    @Test("A host name that isn't ASCII is refused with a hint to its xn-- form")
    func foreignHostNames() throws {
        for (flag, value) in [
            ("--hosts", "bücher.example"), ("--allowed-origins", "https://bücher.example"),
            ("--public-url", "https://bücher.example"),
        ] {
            #expect(try errorMessage([flag, value]).contains("xn--"))
        }
        #expect(try !errorMessage(["--hosts", "example.org:80"]).contains("xn--"))
        #expect(try configuration(["--hosts", "xn--bcher-kva.example"]).hosts != AllowedHosts())
    }

    @Test("PORT is used if no address is given") func portCountsWhereNoAddressIsGiven() throws {
        #expect(try configuration([], ["PORT": "5000"]).listen == [.tcp(host: "0.0.0.0", port: 5000)])
        let own: [ListenAddress] = [.tcp(host: "127.0.0.1", port: 1)]
        #expect(try configuration(["--listen", "127.0.0.1:1"], ["PORT": "5000"]).listen == own)
        #expect(try configuration([], ["PORT": "5000", "LETSSWITCH_LISTEN": "127.0.0.1:1"]).listen == own)
    }

    @Test(
        "The database is chosen in the documented order",
        arguments: [
            (
                ["--database-url", "postgresql://flag"], ["DATABASE_URL": "postgres://b"],
                DatabaseChoice.url("postgresql://flag")
            ),
            ([], ["LETSSWITCH_DATABASE_URL": "postgres://a", "DATABASE_URL": "postgres://b"], .url("postgres://a")),
            ([], ["DATABASE_URL": "postgres://b", "PGHOST": "h"], .url("postgres://b")),
            ([], ["DATABASE_URL": "host=/run dbname=x"], .url("host=/run dbname=x")),
            ([], ["PGHOST": "h"], .libpqEnvironment),
            ([], ["PGHOSTADDR": "10.0.0.1"], .libpqEnvironment),
            ([], ["PGSERVICE": "s"], .libpqEnvironment),
            ([], ["PGDATABASE": "d"], .libpqEnvironment),
            ([], ["PGUSER": "u", "PGPORT": "1", "PGPASSWORD": "p"], .privateCluster),
        ])
    func databaseIsChosenInDocumentedOrder(
        arguments: [String], environment: [String: String], expected: DatabaseChoice
    ) throws {
        #expect(try configuration(arguments, environment).database == expected)
    }

    @Test("An invalid database is refused without repeating a possible password")
    func invalidDatabaseIsRefusedWithoutRepeatingPossiblePassword() throws {
        for (arguments, environment) in [
            (["--database-url", "hunter2"], [:]), ([], ["DATABASE_URL": "hunter2"]),
            ([], ["LETSSWITCH_DATABASE_URL": "hunter2"]),
        ] {
            let errorMessage = try errorMessage(arguments, environment)
            #expect(errorMessage.contains("postgresql://"))
            #expect(!errorMessage.contains("hunter2"))
        }
        for url in [
            "postgresql://u:hunter2%off@h/x", "postgresql+asyncpg://u:hunter2@h/x?ssl=on", "host=h password=my hunter2",
            "postgresql://u:hunter2/@h/x",
        ] {
            let errorMessage = try errorMessage([], ["DATABASE_URL": url])
            #expect(errorMessage.hasPrefix("DATABASE_URL: libpq") && !errorMessage.contains("hunter2"))
        }
    }

    @Test(
        "The log shows the database's address without user and password",
        arguments: [
            ("postgresql://letsswitch:pa?ss@db/x", "postgresql://db/x"),
            ("postgres://u:p@h:1/x?ssl=on", "postgresql://h:1/x"),
            ("postgresql://u:@\u{301}@h/x", "postgresql://h/x"),
            ("postgresql:///x?host=/run&password=a@secret", "postgresql:///x"), ("postgresql://h", "postgresql://h"),
            ("host=db password=a://secret", "the database that --database-url names"),
        ])
    func databaseDescription(url: String, shown: String) {
        #expect(DatabaseChoice.url(url).description == shown)
    }

    @Test("systemd's directory is used after our own variables") func systemdsDirectoryCountsAfterOurOwnNamesForIt()
        throws
    {
        let systemd = ["STATE_DIRECTORY": "/var/lib/private/letsswitch:/other", "NOTIFY_SOCKET": "@n"]
        #expect(try configuration([], systemd).stateDirectory == "/var/lib/private/letsswitch")
        #expect(try configuration([], systemd).notifySocket == "@n")
        #expect(try configuration(["--state-dir", "s"], systemd).stateDirectory == "s")
    }

    @Test(
        "A Web Push contact that push services refuse causes a warning",
        arguments: [
            ("mailto:ops@localhost", "localhost"), ("mailto:ops@LocalHost", "localhost"), ("mailto:ops@host", "host"),
            ("mailto:ops@switch.invalid", "switch.invalid"), ("mailto:ops@switch.local", "switch.local"),
            ("mailto:ops@switch.test", "switch.test"), ("mailto:ops@switch.example.", "switch.example."),
            ("https://localhost:8080/contact", "localhost"), ("https://switch.internal", "switch.internal"),
        ]) func contact(_ contact: String, _ host: String) throws
    {
        let warnings = try configuration(["--web-push-contact", contact]).warnings
        #expect(warnings.count == 1)
        #expect(warnings.first?.hasPrefix("--web-push-contact: ") == true)
        #expect(warnings.first?.contains(" \(host) is no public domain") == true)
    }

    @Test(
        "A Web Push contact in a public domain causes no warning",
        arguments: ["mailto:ops@example.org", "mailto:ops@localhost.example.org", "https://example.org/contact"])
    func publicContact(_ contact: String) throws {
        #expect(try configuration(["--web-push-contact", contact]).warnings == [])
    }

    @Test("systemd's watchdog is for the process that WATCHDOG_PID names, or for any process without it")
    func watchdog() throws {
        func limit(_ environment: [String: String]) throws -> Duration? { try configuration([], environment).watchdog }
        #expect(try limit([:]) == nil)
        #expect(try limit(["WATCHDOG_USEC": "30000000"]) == .seconds(30))
        #expect(try limit(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "\(getpid())"]) == .seconds(30))
        #expect(try limit(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"]) == nil)
        for text in ["", "0", "-1", "soon"] { #expect(try limit(["WATCHDOG_USEC": text]) == nil) }
    }

    @Test("A message size above the send queue's is refused") func messagesThatNoSendQueueCouldHoldAreRefused() throws {
        let arguments = ["--send-queue-bytes", "2048", "--max-message-bytes"]
        #expect(try configuration(arguments + ["2038"]).limits.maxMessageBytes == 2038)
        let errorMessage = try errorMessage(arguments + ["2039"])
        #expect(
            errorMessage.hasPrefix("--send-queue-bytes: must be at least 2049")
                && errorMessage.contains("--max-message-bytes"))
    }

    @Test("A retention shorter than the room's duration is refused") func tasksAreNotPurgedWhileTheirRoomIsOpen() throws
    {
        #expect(throws: UsageError.self) { try configuration(["--retention", "1h", "--room-duration", "61m"]) }
        #expect(try configuration(["--retention", "1h", "--room-duration", "1h"]).schedule.retention == .seconds(3600))
    }

    @Test("The bus must be known, RabbitMQ's needs a URL, and no error repeats it")
    func theBusIsOneThatThereIs() throws {
        #expect(try configuration().bus == .automatic)
        #expect(try configuration(["--bus", "none"]).bus == .none)
        #expect(
            try errorMessage(["--bus", "redis"]) == "--bus: \"redis\": must be one of auto, postgresql, amqp, none")
        #expect(try errorMessage(["--bus", "amqp"]) == "--bus: amqp requires --amqp-url")
        let url = "amqp://ada:sesame@broker:5672/rooms"
        let configuration = try configuration(["--bus", "AMQP"], ["LETSSWITCH_AMQP_URL": url])
        #expect(try configuration.bus == .amqp && configuration.amqpURL == AMQPURL(url))
        #expect(configuration.broker(name: "one")?.name == "one")
        let trusting = try self.configuration(["--amqp-url", url, "--amqp-ca", "/etc/ours.pem"])
        #expect(trusting.broker(name: "one")?.authorities == "/etc/ours.pem")
        #expect(try self.configuration().broker(name: "one") == nil)
        for wrong in ["http://ada:sesame@broker", "amqp://", "amqp://ada:sesame @broker"] {
            let errorMessage = try errorMessage(["--amqp-url", wrong])
            #expect(errorMessage.hasPrefix("--amqp-url: ") && !errorMessage.contains("sesame"))
        }
    }

    @Test("Every setting is read by its flag and by its variable", arguments: SettingTable.all)
    func everySettingIsReadByItsFlagAndByItsVariable(_ setting: Setting<Configuration>) throws {
        let sample = Self.samples[setting.name] ?? (setting.kind == .boolean ? "yes" : nil)
        let value = try #require(sample, "no sample for \(setting.flag)")
        let companions = Self.companions[setting.name] ?? Self.apnsCompanions(of: setting.name)
        let byFlag = try configuration(["\(setting.flag)=\(value)"] + companions)
        #expect(byFlag != Configuration(), "\(setting.flag) changes nothing")
        #expect(try configuration(companions, [setting.variable: value]) == byFlag)
    }

    /// Returns the other three of Apple's four settings, which require each other.
    private static func apnsCompanions(of name: String) -> [String] {
        let names = ["apns-key", "apns-key-id", "apns-team-id", "apns-topic"]
        guard names.contains(name) else { return [] }
        return names.filter { $0 != name }.flatMap { ["--\($0)", samples[$0] ?? ""] }
    }

    /// Settings that a setting requires.
    private static let companions = [
        "tls-certificate": ["--tls-key", "/k", "--listen", "tls:a:1"],
        "tls-key": ["--tls-certificate", "/c", "--listen", "tls:a:1"],
        "webhook-url": ["--webhook-secret", webhookSecret],
        "webhook-secret": ["--webhook-url", "https://example.org/"],
        "webhook-secret-file": ["--webhook-url", "https://example.org/"],
        "require-tickets": ["--ticket-secret", webhookSecret],
        "ntfy-token": ["--ntfy-server", "https://example.org/"],
        "ntfy-token-file": ["--ntfy-server", "https://example.org/"],
    ]

    private static let webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// The path of a file with a secret for any provider.
    private static let secretFile: String = {
        let path = TestClusterDirectories.shared.make() + "/secret"
        _ = FileManager.default.createFile(
            atPath: path, contents: Data("\(webhookSecret)\n".utf8), attributes: [.posixPermissions: 0o600])
        return path
    }()

    private static let databaseFile: String = {
        let path = TestClusterDirectories.shared.make() + "/database"
        _ = FileManager.default.createFile(
            atPath: path, contents: Data("postgres://file\n".utf8), attributes: [.posixPermissions: 0o600])
        return path
    }()

    private static let brokerFile: String = {
        let path = TestClusterDirectories.shared.make() + "/broker"
        _ = FileManager.default.createFile(
            atPath: path, contents: Data("amqp://file\n".utf8), attributes: [.posixPermissions: 0o600])
        return path
    }()

    /// A value for each setting, none of them its default.
    private static let samples: [String: String] = {
        var samples = [
            "listen": "localhost:1", "operations-listen": "localhost:2", "hosts": "example.org",
            "database-url": "postgres://x", "database-url-file": databaseFile, "state-dir": "/x",
            "tls-certificate": "/c",
            "tls-key": "/k", "log-level": "DEBUG",
            "log-format": "json", "loops": "77", "max-subscriptions": "77", "database-connections": "77",
            "trusted-proxies": "10.0.0.0/8",
            "allowed-origins": "https://example.org", "webhook-secret": webhookSecret, "ntfy-token": "tk_x",
            "webhook-secret-file": secretFile, "ntfy-token-file": secretFile, "webhook-concurrency": "77",
            "ntfy-concurrency": "77",
            "webhook-batch": "77", "bus": "postgresql", "amqp-url": "amqp://x", "amqp-url-file": brokerFile,
            "ticket-secret": webhookSecret, "ticket-secret-file": secretFile,
            "public-url": "https://example.org", "without": "questions",
        ]
        for setting in SettingTable.all where samples[setting.name] == nil {
            switch setting.kind {
            case .value(placeholder: "N"): samples[setting.name] = "5555"
            case .value(placeholder: "FILE"): samples[setting.name] = "/c"
            case .value(placeholder: "URL"): samples[setting.name] = "https://example.org/x"
            case .value(placeholder: "ID"): samples[setting.name] = "ABC123DEFG"
            case .value(placeholder: "BUNDLE"): samples[setting.name] = "org.example.App"
            case .value(placeholder: "DURATION"):
                samples[setting.name] = setting.name.hasSuffix("retention") ? "3d" : "7.5"
            default: break
            }
        }
        return samples
    }()
}
