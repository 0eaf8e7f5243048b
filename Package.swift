// swift-tools-version: 6.2
import PackageDescription

// `make fuzz`: coverage of every target for libFuzzer, and the driver. Ordinary builds ignore this.
let isFuzzing = Context.environment["LETSSWITCH_FUZZ"] != nil
let fuzzFlags: [SwiftSetting] = isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer", "-O"])] : []

// Swift 6 language mode (the default of tools from 6.0 on) with complete concurrency checking. On top of it:
// `any` is required, `package import` marks modules whose types a file exposes, and a member is visible only where
// its module is imported.
let swiftSettings: [SwiftSetting] =
    fuzzFlags + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]

// A compiler that compiles a part of a target also reads the rest of it. By default a debug build uses one compiler per
// processor. For tests one compiler compiles a whole target, which costs less CPU time, and there are enough test targets to
// keep all processors busy. (SwiftPM calls every flag without its own setting unsafe; no product uses these.)
let testSettings: [SwiftSetting] = swiftSettings + [.unsafeFlags(["-driver-batch-count", "1"])]

let fuzzTargets: [Target] =
    !isFuzzing
    ? []
    : [
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzProperties"], path: "Tests/Fuzz/Driver",
            swiftSettings: swiftSettings + [.unsafeFlags(["-parse-as-library"])],
            // The gold linker warns about each symbol of AddressSanitizer.
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])])
    ]

// The client library has its own sockets here; Apple's systems have URLSession.
let onLinux = TargetDependencyCondition.when(platforms: [.linux])

let package = Package(
    name: "LetsSwitch",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [
        .executable(name: "letsswitchd", targets: ["letsswitchd"]),
        .executable(name: "letsswitch", targets: ["letsswitch"]),
        .library(name: "LetsSwitchClient", targets: ["LetsSwitchClient"]),
    ],
    targets: [
        // C libraries of the system: a module map and a shim header each, no logic.
        .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CSpawn"),
        // No pkgConfig, which would link it: libcurl is loaded at the first request.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        // No pkgConfig: librabbitmq is loaded when there is a broker.
        .systemLibrary(name: "CRabbitMQ", providers: [.apt(["librabbitmq-dev"])]),
        // No pkgConfig: libqrencode is loaded when a page shows a QR code.
        .systemLibrary(name: "CQRencode", providers: [.apt(["libqrencode-dev"])]),
        // SQL and the files of pages, embedded in programs by the C compiler.
        .target(name: "CEmbedded", exclude: ["folders.inc"], publicHeadersPath: "include"),

        // Shared by all layers: monotonic time, the calendar, queue executors, back-off, a wakeable timer, time-outs,
        // batches, service life cycle. (The toolchain already has a module `Runtime`.)
        .target(name: "Basics", swiftSettings: swiftSettings),
        // Bytes to values and back: HTTP/1.1 and WebSocket, without I/O and without a clock.
        .target(name: "Wire", dependencies: ["Basics", "COpenSSL", "CZlib"], swiftSettings: swiftSettings),
        // Keys, signatures, digests and ciphers: OpenSSL's, with its failures thrown.
        .target(name: "Crypto", dependencies: ["COpenSSL", "Wire"], swiftSettings: swiftSettings),
        // Event loops, listening and connected sockets, timers, signals. Moves bytes, knows no protocol.
        .target(name: "Sockets", dependencies: ["Basics", "CLinux", "COpenSSL"], swiftSettings: swiftSettings),
        // The Vapor-style part: application, routes, requests, responses, WebSockets.
        .target(name: "Server", dependencies: ["Basics", "Wire", "Sockets"], swiftSettings: swiftSettings),
        // libpq without blocking a thread, migrations, and the private cluster.
        .target(
            name: "Postgres", dependencies: ["Basics", "CLibpq", "CLinux", "CSpawn"], swiftSettings: swiftSettings),
        // Requests to other servers. libcurl is loaded at the first one.
        .target(
            name: "HTTPClient", dependencies: ["Basics", "CCurl", "CLinux", "Wire"], swiftSettings: swiftSettings),
        // Connections to a RabbitMQ broker. librabbitmq is loaded at the first one.
        .target(name: "AMQP", dependencies: ["Basics", "CLinux", "CRabbitMQ", "Wire"], swiftSettings: swiftSettings),
        // The log and the metrics, including those of the process. Knows nothing of the product.
        .target(name: "Observability", dependencies: ["Basics"], swiftSettings: swiftSettings),
        // The values that several targets use: devices, instants, requests' fields and errors, quotas.
        .target(
            name: "Domain", dependencies: ["Basics", "Crypto", "Observability", "Postgres", "Wire"],
            swiftSettings: swiftSettings),
        // Rooms of connections, and the delivery of messages in them. No protocol, no SQL.
        .target(name: "Rooms", dependencies: ["Basics", "Crypto", "Sockets"], swiftSettings: swiftSettings),
        // The database schema: tables from numbered migrations, and the functions.
        .target(
            name: "Schema",
            dependencies: [
                "CEmbedded", "Conversations", "Domain", "Features", "Matches", "Notifications", "Postgres", "Questions",
                "Reminders", "Schedule",
            ],
            exclude: ["SQL"],
            swiftSettings: swiftSettings),
        // Identities by name or ticket, and their rate limits over all protocols.
        .target(
            name: "Access", dependencies: ["Basics", "Crypto", "Domain", "Server", "Wire"],
            swiftSettings: swiftSettings),
        // The other daemons on the database: which are alive, and the bus that carries ales and presence between them.
        .target(
            name: "Daemons", dependencies: ["AMQP", "Basics", "Observability", "Postgres", "Rooms", "Wire"],
            swiftSettings: swiftSettings),
        // Every setting with its flag, variable, range and default, and the parser of the command line.
        .target(
            name: "Settings",
            dependencies: [
                "Access", "AMQP", "Basics", "Conversations", "Daemons", "Domain", "Features", "Matches",
                "Notifications", "Observability", "Postgres", "Questions", "Reminders", "Schedule", "Server", "Sockets",
                "Wire",
            ],
            swiftSettings: swiftSettings),
        // Shared by the pages for browsers: a page in one answer, its assets, QR codes, and common scripts.
        .target(
            name: "Pages", dependencies: ["CEmbedded", "CQRencode", "Crypto", "Server", "Wire"],
            exclude: ["Assets"],
            swiftSettings: swiftSettings),
        // Action Cable's connections and subscriptions, for channels that are registered with it.
        .target(
            name: "ActionCable",
            dependencies: [
                "Access", "Basics", "Domain", "Observability", "Rooms", "Server", "Sockets", "Wire",
            ],
            swiftSettings: swiftSettings),
        // The protocol of a feature, and the parts that all features share: connection pools, erasure, quotas.
        .target(
            name: "Features",
            dependencies: [
                "Access", "ActionCable", "Basics", "CEmbedded", "Domain", "Observability", "Postgres", "Rooms",
                "Server", "Sockets", "Wire",
            ],
            exclude: ["SQL"],
            swiftSettings: swiftSettings),

        // The features, the lower ones first. Each has its SQL, store, routes, live feed, Action Cable channel and page.

        // Tasks and their matching, series, invitations, history, the calendar, and the day with its page.
        .target(
            name: "Schedule",
            dependencies: [
                "Basics", "CEmbedded", "Crypto", "Domain", "Features", "Observability", "Pages", "Postgres", "Rooms",
                "Server", "Wire",
            ],
            exclude: ["API", "Page/Assets", "Page/Screenshots", "SQL"],
            swiftSettings: swiftSettings),
        // The scheduler, which sends reminders and opens rooms, and the streams of reminders and of changes of the day.
        .target(
            name: "Reminders",
            dependencies: [
                "Access", "ActionCable", "Basics", "CEmbedded", "Domain", "Features", "Observability", "Postgres",
                "Rooms", "Schedule", "Server", "Sockets", "Wire",
            ],
            exclude: ["API", "SQL"],
            swiftSettings: swiftSettings),
        // The rooms of matches, their ales and their attendance.
        .target(
            name: "Matches",
            dependencies: [
                "Access", "ActionCable", "Basics", "CEmbedded", "Domain", "Features", "Observability", "Postgres",
                "Reminders", "Rooms", "Schedule", "Server", "Sockets", "Wire",
            ],
            exclude: ["API", "SQL"],
            swiftSettings: swiftSettings),
        // Sends reminders and events from the outbox: workers, providers, and the addresses of devices.
        .target(
            name: "Notifications",
            dependencies: [
                "ActionCable", "Basics", "CEmbedded", "Crypto", "Domain", "Features", "HTTPClient", "Observability",
                "Postgres", "Server", "Wire",
            ],
            exclude: ["API", "SQL"],
            swiftSettings: swiftSettings),
        // Question sessions for an audience.
        .target(
            name: "Questions",
            dependencies: [
                "Access", "ActionCable", "Basics", "CEmbedded", "Crypto", "Domain", "Features", "Observability",
                "Pages", "Postgres", "Rooms", "Server", "Sockets", "Wire",
            ],
            exclude: ["API", "Page/Assets", "Page/Screenshots", "SQL"],
            swiftSettings: swiftSettings),
        // Conversations with history, blocks, and the bridge to RabbitMQ.
        .target(
            name: "Conversations",
            dependencies: [
                "Access", "ActionCable", "AMQP", "Basics", "CEmbedded", "Crypto", "Domain", "Features",
                "Observability", "Pages", "Postgres", "Rooms", "Server", "Sockets", "Wire",
            ],
            exclude: ["API", "Page/Assets", "SQL"],
            swiftSettings: swiftSettings),
        // The description of routes and WebSocket messages, for programs and people: OpenAPI, JSON Schemas, help.
        .target(
            name: "APIDescription",
            dependencies: [
                "ActionCable", "Basics", "CEmbedded", "Domain", "Features", "Notifications", "Server", "Settings",
                "Wire",
            ],
            exclude: ["embedded.inc", "examples.txt"],
            swiftSettings: swiftSettings),
        // Operators' commands: to a running daemon through a Unix socket, and to its database.
        .target(
            name: "Control",
            dependencies: [
                "Basics", "Domain", "Features", "Notifications", "Observability", "Postgres", "Reminders", "Rooms",
                "Schema",
                "Server", "Settings", "Sockets", "Wire",
            ],
            swiftSettings: swiftSettings),
        // The daemon: its list of features, composition, health, metrics, the operators' page, life cycle.
        .target(
            name: "LetsSwitch",
            dependencies: [
                "Access", "ActionCable", "APIDescription", "Basics", "CEmbedded", "Control", "Conversations", "Crypto",
                "Daemons", "Domain", "Features", "Matches", "Notifications", "Observability", "Pages", "Postgres",
                "Questions", "Reminders", "Rooms", "Schedule", "Schema", "Server", "Settings", "Sockets", "Wire",
            ],
            exclude: ["History/Page/Assets"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "letsswitchd", dependencies: ["Access", "Basics", "Control", "LetsSwitch", "Settings", "Sockets"],
            exclude: ["systemd"],
            swiftSettings: swiftSettings),
        // The client library for programs that use a daemon: the only target with public declarations.
        .target(
            name: "LetsSwitchClient",
            dependencies: [
                .target(name: "Basics", condition: onLinux), .target(name: "Sockets", condition: onLinux),
                .target(name: "Wire", condition: onLinux),
            ],
            swiftSettings: swiftSettings),
        // The command for the terminal.
        .executableTarget(
            name: "letsswitch", dependencies: ["Basics", "LetsSwitchClient"], swiftSettings: swiftSettings),
        // The load generator, the bare relay for comparison, and the benchmarks.
        .executableTarget(
            name: "letsswitch-bench",
            dependencies: ["AMQP", "Basics", "Postgres", "Sockets", "Wire", "CLibpq", "CLinux", "CRabbitMQ", "CSpawn"],
            swiftSettings: swiftSettings),

        // Shared by several test targets: clients, a private cluster, events to wait for.
        .target(
            name: "TestSupport", dependencies: ["Server", "Sockets", "Crypto", "Wire", "Postgres", "COpenSSL"],
            path: "Tests/Support/TestSupport", swiftSettings: testSettings),
        // Buses between daemons in a test's memory.
        .target(
            name: "BusTestSupport", dependencies: ["Rooms", "TestSupport"], path: "Tests/Support/BusTestSupport",
            swiftSettings: testSettings),
        // Validates the messages that tests receive against the product's schemas.
        .target(
            name: "InterfaceTestSupport",
            dependencies: ["APIDescription", "Features", "Schema", "Server", "TestSupport"],
            path: "Tests/Support/InterfaceTestSupport",
            swiftSettings: testSettings),
        .testTarget(
            name: "TestSupportTests", dependencies: ["TestSupport", "CLinux", "Wire"],
            path: "Tests/Support/TestSupportTests",
            swiftSettings: testSettings),
        .testTarget(name: "BasicsTests", dependencies: ["Basics", "TestSupport"], swiftSettings: testSettings),
        .testTarget(name: "WireTests", dependencies: ["Wire", "CZlib"], swiftSettings: testSettings),
        .testTarget(
            name: "CryptoTests", dependencies: ["Crypto", "TestSupport", "Wire"], swiftSettings: testSettings),
        .testTarget(
            name: "SocketsTests", dependencies: ["Basics", "COpenSSL", "Sockets", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "ServerTests", dependencies: ["Basics", "Server", "Sockets", "TestSupport", "Wire"],
            swiftSettings: testSettings),
        .testTarget(
            name: "RoomsTests", dependencies: ["Basics", "BusTestSupport", "Rooms", "Sockets", "TestSupport"],
            swiftSettings: testSettings),
        .testTarget(
            name: "HTTPClientTests", dependencies: ["HTTPClient", "Server", "TestSupport", "Wire"],
            swiftSettings: testSettings),
        .testTarget(name: "AMQPTests", dependencies: ["AMQP", "Basics", "TestSupport"], swiftSettings: testSettings),
        .testTarget(
            name: "PostgresTests", dependencies: ["Basics", "Postgres", "TestSupport"], swiftSettings: testSettings),
        .testTarget(
            name: "ObservabilityTests", dependencies: ["Observability"], swiftSettings: testSettings),
        .testTarget(
            name: "DomainTests", dependencies: ["Domain", "Observability", "TestSupport"], swiftSettings: testSettings),
        // A database with the product's schema and a clock that the test sets.
        .target(
            name: "ScheduleTestSupport",
            dependencies: [
                "Crypto", "Domain", "Features", "Matches", "Notifications", "Postgres", "Reminders", "Schedule",
                "Schema", "TestSupport",
            ],
            path: "Tests/Support/ScheduleTestSupport", swiftSettings: testSettings),
        .testTarget(
            name: "ScheduleTests",
            dependencies: [
                "Basics", "Domain", "Features", "Matches", "Notifications", "Observability", "Postgres", "Reminders",
                "Rooms", "Schedule", "ScheduleTestSupport", "TestSupport", "Wire",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "RemindersTests",
            dependencies: [
                "Basics", "Domain", "Features", "Notifications", "Observability", "Postgres", "Reminders", "Rooms",
                "Schedule", "ScheduleTestSupport", "Server", "Sockets", "TestSupport", "Wire",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "MatchesTests",
            dependencies: [
                "Basics", "Domain", "Features", "Matches", "Notifications", "Observability", "Postgres", "Reminders",
                "Rooms", "Schedule", "ScheduleTestSupport", "Server", "Sockets", "TestSupport", "Wire",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "NotificationsTests",
            dependencies: [
                "Basics", "Crypto", "Domain", "Features", "HTTPClient", "Matches", "Notifications", "Observability",
                "Postgres", "Reminders", "Rooms", "Schedule", "ScheduleTestSupport", "Server", "TestSupport", "Wire",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "QuestionsTests",
            dependencies: [
                "Basics", "Domain", "Features", "Matches", "Postgres", "Questions", "Reminders", "Schedule",
                "ScheduleTestSupport", "Server", "Sockets", "TestSupport", "Wire",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "ConversationsTests",
            dependencies: [
                "Access", "AMQP", "Basics", "Conversations", "Domain", "Features", "Matches", "Observability",
                "Postgres", "Reminders", "Rooms", "Schedule", "ScheduleTestSupport", "Server", "Sockets", "TestSupport",
                "Wire",
            ],
            swiftSettings: testSettings),
        .testTarget(
            name: "AccessTests",
            dependencies: ["Access", "Crypto", "Domain", "Server", "TestSupport", "Wire"],
            swiftSettings: testSettings),
        .testTarget(
            name: "DaemonsTests",
            dependencies: [
                "AMQP", "Basics", "BusTestSupport", "Daemons", "Observability", "Postgres", "Rooms",
                "ScheduleTestSupport", "Schema", "TestSupport",
            ], swiftSettings: testSettings),
        .testTarget(
            name: "SettingsTests",
            dependencies: [
                "Access", "AMQP", "Daemons", "Domain", "Features", "Matches", "Notifications", "Observability",
                "Reminders", "Rooms", "Schedule", "Server", "Settings", "TestSupport", "Wire",
            ], swiftSettings: testSettings),
        .testTarget(
            name: "ActionCableTests", dependencies: ["Access", "ActionCable", "Basics", "Domain", "Sockets", "Wire"],
            swiftSettings: testSettings),
        // A whole daemon with its own database, and actions of users.
        .target(
            name: "JourneyTestSupport",
            dependencies: [
                "Domain", "Features", "InterfaceTestSupport", "LetsSwitch", "letsswitchd", "Matches", "Observability",
                "Postgres", "Reminders", "Schedule", "Schema", "Server", "Settings", "Sockets", "TestSupport",
            ],
            path: "Tests/Support/JourneyTestSupport", swiftSettings: testSettings),
        // Journeys of users, from the request to the room, and of operators.
        .testTarget(
            name: "LetsSwitchTests",
            dependencies: [
                "Access", "Basics", "Control", "Conversations", "Crypto", "Domain", "Features", "JourneyTestSupport",
                "LetsSwitch", "Matches", "Notifications", "Observability", "Postgres", "Questions", "Reminders",
                "Rooms", "Schedule", "ScheduleTestSupport", "Schema", "Server", "Settings", "TestSupport", "Wire",
            ],
            swiftSettings: testSettings),
        // Journeys through the other interfaces: Action Cable, questions, conversations, and their descriptions.
        .testTarget(
            name: "InterfaceTests",
            dependencies: [
                "Access", "AMQP", "APIDescription", "Conversations", "Crypto", "Domain", "Features",
                "InterfaceTestSupport", "JourneyTestSupport", "LetsSwitch", "Matches", "Notifications", "Observability",
                "Pages", "Postgres", "Questions", "Reminders", "Rooms", "Schedule", "ScheduleTestSupport", "Server",
                "Settings", "Sockets", "TestSupport", "Wire",
            ],
            swiftSettings: testSettings),
        // Faults of the database, the disk, clocks, peers, other daemons and their bus.
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "Basics", "BusTestSupport", "Crypto", "Daemons", "Domain", "Features", "InterfaceTestSupport",
                "JourneyTestSupport", "LetsSwitch", "Matches", "Observability", "Postgres", "Reminders", "Rooms",
                "Schedule", "ScheduleTestSupport", "Schema", "Server", "Settings", "TestSupport",
            ],
            swiftSettings: testSettings),
        // Kills daemons again and again, and compares the answers that clients got with the stored data.
        .testTarget(
            name: "TortureTests",
            dependencies: [
                "Domain", "Features", "InterfaceTestSupport", "JourneyTestSupport", "Matches", "Postgres", "Reminders",
                "Schedule", "TestSupport",
            ],
            swiftSettings: testSettings),
        // The program of another package, built here too, so that `make test` shows whether it still compiles.
        .executableTarget(
            name: "OutsideRoom", dependencies: ["LetsSwitchClient"], path: "Tests/Client/OutsidePackage/Sources/room",
            swiftSettings: swiftSettings),
        .testTarget(
            name: "LetsSwitchClientTests",
            dependencies: [
                "Basics", "CLinux", "Features", "InterfaceTestSupport", "letsswitch", "LetsSwitchClient", "letsswitchd",
                "Matches", "OutsideRoom", "Postgres", "Reminders", "Schedule", "Sockets", "TestSupport", "Wire",
            ],
            swiftSettings: testSettings),
        // The pages in a real browser.
        .testTarget(
            name: "PageTests",
            dependencies: [
                "Basics", "Features", "InterfaceTestSupport", "LetsSwitchClient", "letsswitchd", "Matches", "Postgres",
                "Reminders", "Schedule", "TestSupport",
            ],
            swiftSettings: testSettings),

        // The properties that hold for every input, checked by the fuzzer's driver and by a test that replays the
        // corpora.
        .target(
            name: "FuzzProperties",
            dependencies: [
                "Basics", "Conversations", "CZlib", "Daemons", "Domain", "Features", "LetsSwitch", "LetsSwitchClient",
                "Matches", "Notifications", "Postgres", "Questions", "Reminders", "Rooms", "Schedule", "Settings",
                "TestSupport", "Wire",
            ],
            path: "Tests/Fuzz/Properties", swiftSettings: testSettings),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzProperties", "TestSupport"], swiftSettings: testSettings),
        .testTarget(
            name: "BenchTests", dependencies: ["letsswitch-bench", "letsswitchd", "TestSupport"],
            swiftSettings: testSettings),
        // Checks of the documentation: links, lengths, flags, journeys.
        .testTarget(
            name: "DocumentationTests", dependencies: ["Features", "LetsSwitch", "Schema", "Settings", "TestSupport"],
            swiftSettings: testSettings),
    ] + fuzzTargets
)

// The Markdown pages, which are in the folders of the sources that they describe.
let pages = [
    "CEmbedded": ["README.md"],
    "Basics": ["README.md"],
    "Wire": ["README.md"],
    "Crypto": ["README.md"],
    "Sockets": ["README.md"],
    "Server": ["README.md", "LIMITS.md", "PROXIES.md", "TLS.md"],
    "Postgres": ["README.md", "BACKUP.md", "DATABASE.md"],
    "HTTPClient": ["README.md"],
    "AMQP": ["README.md"],
    "Observability": ["README.md"],
    "Domain": ["README.md"],
    "Rooms": ["README.md"],
    "Features": ["README.md"],
    "Schedule": ["README.md", "PARTNERS.md", "Calendar/CALENDAR.md", "Page/README.md"],
    "Reminders": ["README.md"],
    "Matches": ["README.md"],
    "Notifications": ["README.md", "NOTIFICATIONS.md", "WEBHOOK.md"],
    "Schema": ["README.md"],
    "Access": ["README.md", "TICKETS.md"],
    "Daemons": ["README.md", "DAEMONS.md"],
    "Settings": ["README.md", "SETTINGS.md"],
    "Pages": ["README.md"],
    "ActionCable": ["README.md", "CABLE.md"],
    "Questions": ["README.md", "QUESTIONS.md", "Page/README.md"],
    "Conversations": ["README.md", "CONVERSATIONS.md", "Bridge/BRIDGE.md"],
    "APIDescription": ["README.md"],
    "Control": ["README.md"],
    "LetsSwitch": ["README.md", "Operations/METRICS.md", "Operations/MONITORING.md", "Operations/Prometheus"],
    "LetsSwitchClient": ["README.md"],
    "letsswitch": ["README.md", "letsswitch.1", "completions", "debian"],
    "letsswitchd": ["README.md", "OPERATING.md", "SERVICE.md", "letsswitchd.8", "completions", "debian"],
    "letsswitch-bench": ["README.md", "MEASUREMENTS.md"],
]
for target in package.targets { target.exclude += pages[target.name] ?? [] }

// The layers, from the top down: each is a folder of Sources and of Tests. A target imports only from its own layer and from those
// below it. The client library is outside of the layers and imports only from the platform. LayerTests checks both.
let layers: [(name: String, targets: [String])] = [
    ("Programs", ["letsswitchd", "letsswitch", "letsswitch-bench", "LetsSwitch"]),
    ("Operations", ["Settings", "Control", "Daemons", "APIDescription", "Schema"]),
    (
        "Features",
        [
            "Schedule", "Reminders", "Matches", "Notifications", "Questions", "Conversations",
        ]
    ),
    ("Core", ["Domain", "Access", "Rooms", "ActionCable", "Pages", "Features"]),
    (
        "Platform",
        [
            "Basics", "Wire", "Crypto", "Sockets", "Server", "Postgres", "HTTPClient", "AMQP", "Observability",
            "CEmbedded",
        ]
    ),
    ("System", ["CLibpq", "COpenSSL", "CZlib", "CLinux", "CSpawn", "CCurl", "CRabbitMQ", "CQRencode"]),
    ("Client", ["LetsSwitchClient"]),
]

// Tests are in the layer of the target that they are named after. Those that need the whole daemon are in the uppermost.
for target in package.targets where target.path == nil {
    let isTest = target.type == .test
    let subject = isTest ? String(target.name.dropLast("Tests".count)) : target.name
    let layer = layers.first { $0.targets.contains(subject) }?.name ?? "Programs"
    target.path = "\(isTest ? "Tests" : "Sources")/\(layer)/\(target.name)"
}
