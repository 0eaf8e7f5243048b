import Foundation
import Testing

@testable import letsswitch

@Suite struct LocalZoneTests {
    private static let prague = "CET-1CEST,M3.5.0,M10.5.0/3"
    private static let london = "GMT0BST,M3.5.0/1,M10.5.0"

    /// A root directory with zone files. Prague and London are regular files, Bratislava is a link to Prague.
    private final class Machine {
        let root = "/tmp/ls-zone-\(UUID().uuidString)"

        init(hasZones: Bool = true) throws {
            try FileManager.default.createDirectory(atPath: root + "/etc", withIntermediateDirectories: true)
            guard hasZones else { return }
            try write(LocalZoneTests.file("UTC0"), to: "/usr/share/zoneinfo/Etc/UCT")
            try write(LocalZoneTests.file("UTC0"), to: "/usr/share/zoneinfo/Etc/UTC")
            try write(LocalZoneTests.file("UTC0"), to: "/usr/share/zoneinfo/UTC")
            try write(LocalZoneTests.file("EST5EDT,M3.2.0,M11.1.0"), to: "/usr/share/zoneinfo/EST5EDT")
            try write(LocalZoneTests.file(prague), to: "/usr/share/zoneinfo/Europe/Prague")
            try write(LocalZoneTests.file(london), to: "/usr/share/zoneinfo/Europe/London")
            try write(LocalZoneTests.file(london), to: "/usr/share/zoneinfo/Europe/Belfast")
            try write(LocalZoneTests.file(london, leaps: 27), to: "/usr/share/zoneinfo/right/Europe/London")
            try link("/usr/share/zoneinfo/Europe/Bratislava", to: "Prague")
            try write("# places\nGB\t+513030-0000731\tEurope/London\n", to: "/usr/share/zoneinfo/zone.tab")
            try write("# version 2026a\nZ Etc/UTC 0 - UTC\n", to: "/usr/share/zoneinfo/tzdata.zi")
        }

        deinit { try? FileManager.default.removeItem(atPath: root) }

        func write(_ text: String, to path: String) throws {
            let url = URL(fileURLWithPath: root + path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: url, atomically: false, encoding: .utf8)
        }

        func link(_ path: String, to target: String) throws {
            try FileManager.default.createSymbolicLink(atPath: root + path, withDestinationPath: target)
        }

        func zone(_ variables: [String: String] = [:]) -> LocalZone {
            LocalZone(environment: { variables[$0] }, root: root)
        }
    }

    private static func file(_ rule: String, leaps: Int = 0) -> String { "TZif2 \(leaps)\n\(rule)\n" }

    @Test(
        "TZ names the zone in every form",
        arguments: [
            ("Europe/Prague", "Europe/Prague"), (":Europe/Prague", "Europe/Prague"), ("europe/prague", "Europe/Prague"),
            ("/usr/share/zoneinfo/Europe/Prague", "Europe/Prague"),
            (":/usr/share/zoneinfo/posix/Europe/Prague", "Europe/Prague"), ("posix/Europe/Prague", "Europe/Prague"),
            ("right/Europe/London", "Europe/London"), ("/store/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo"),
            ("UTC", "UTC"), ("EST5EDT", "EST5EDT"), ("/etc/mine", "Europe/London"),
            ("America/Argentina/Ushuaia", "America/Argentina/Ushuaia"), (":/etc/localtime", "Europe/Prague"),
        ])
    func variable(setting: String, name: String) throws {
        let machine = try Machine()
        try machine.link("/etc/localtime", to: "/usr/share/zoneinfo/Europe/Prague")
        try machine.write(Self.file(Self.london), to: "/etc/mine")
        #expect(try machine.zone(["TZ": setting]).name() == name)
    }

    @Test(
        "A TZ value that names no zone is refused with a hint to --zone",
        arguments: [
            "CET-1CEST,M3.5.0,M10.5.0/3", "<+03>-3", "CET-1", ":", "/etc/missing", "/usr/share/zoneinfo/localtime",
        ])
    func rule(setting: String) throws {
        let machine = try Machine()
        try machine.link("/etc/localtime", to: "/usr/share/zoneinfo/Europe/Prague")
        let error = #expect(throws: UsageError.self) { try machine.zone(["TZ": setting]).name() }
        #expect(error?.reason.contains("TZ=\(setting)") == true && error?.reason.contains("--zone") == true)
    }

    @Test("The target of /etc/localtime names the zone, even if the zone files are missing")
    func links() throws {
        for target in [
            "/usr/share/zoneinfo/Europe/Prague", "../usr/share/zoneinfo/Europe/Prague",
            "/store/share/zoneinfo/posix/Europe/Prague",
        ] {
            let machine = try Machine(hasZones: false)
            try machine.link("/etc/localtime", to: target)
            try machine.write("Etc/UTC\n", to: "/etc/timezone")
            #expect(try machine.zone().name() == "Europe/Prague")
        }
        let machine = try Machine(hasZones: false)
        try machine.link("/etc/localtime", to: "chosen/zone")
        try machine.write("", to: "/etc/chosen/other")
        try machine.link("/etc/chosen/zone", to: "/usr/share/zoneinfo/Europe/London")
        #expect(try machine.zone().name() == "Europe/London")
    }

    @Test("A link to itself names no zone")
    func circle() throws {
        let machine = try Machine()
        try machine.link("/etc/localtime", to: "/usr/share/zoneinfo/localtime")
        try machine.link("/usr/share/zoneinfo/localtime", to: "/etc/localtime")
        #expect(throws: UsageError.self) { try machine.zone().name() }
    }

    @Test("/etc/timezone names the zone if /etc/localtime is missing or has the same rule")
    func file() throws {
        let machine = try Machine()
        try machine.write("Europe/Bratislava\n", to: "/etc/timezone")
        #expect(try machine.zone().name() == "Europe/Bratislava")
        // Another version of the zone files.
        try machine.write("TZif2 other transitions\n\(Self.prague)\n", to: "/etc/localtime")
        #expect(try machine.zone().name() == "Europe/Bratislava")
    }

    @Test("A mounted /etc/localtime overrides the /etc/timezone of a container's image")
    func mounted() throws {
        let machine = try Machine()
        try machine.write("Etc/UTC\n", to: "/etc/timezone")
        try machine.write(Self.file(Self.prague), to: "/etc/localtime")
        #expect(try machine.zone().name() == "Europe/Prague")
    }

    @Test("A copied zone file is recognised by its content")
    func content() throws {
        for (rule, leaps, name) in [
            (Self.london, 0, "Europe/London"), (Self.prague, 0, "Europe/Prague"), ("UTC0", 0, "Etc/UTC"),
            (Self.london, 27, "Europe/London"), ("EST5EDT,M3.2.0,M11.1.0", 0, "EST5EDT"),
        ] {
            let machine = try Machine()
            try machine.write(Self.file(rule, leaps: leaps), to: "/etc/localtime")
            #expect(try machine.zone().name() == name)
        }
    }

    @Test("Only zone files are compared")
    func outside() throws {
        let machine = try Machine()
        let content = Self.file("JST-9")
        try machine.write(content, to: "/etc/localtime")
        try machine.write(content, to: "/home/Tokyo")
        try machine.write(content, to: "/home/folder/Tokyo")
        try machine.link("/usr/share/zoneinfo/Tokyo", to: "../../../home/Tokyo")
        try machine.link("/usr/share/zoneinfo/Asia", to: "../../../home/folder")
        #expect(throws: UsageError.self) { try machine.zone().name() }
    }

    @Test("An unknown zone is refused with a hint, and never assumed to be UTC")
    func unknown() throws {
        let machine = try Machine()
        for content in [nil, "", "no zone", Self.file("XYZ-5")] {
            if let content { try machine.write(content, to: "/etc/localtime") }
            let error = #expect(throws: UsageError.self) { try machine.zone().name() }
            #expect(error?.reason.contains("--zone") == true && error?.reason.contains("TZ=") == true)
        }
    }

    @Test("A zone is spelled like its file")
    func spelling() throws {
        let machine = try Machine()
        #expect(try machine.zone().spelling(of: "europe/LONDON") == "Europe/London")
        #expect(try machine.zone().spelling(of: "utc") == "UTC")
        for name in ["Europe/Lodnon", "Europe", "zone.tab", "../zoneinfo/UTC", ""] {
            #expect(throws: UsageError.self) { try machine.zone().spelling(of: name) }
        }
        try machine.write(Self.file("JST-9"), to: "/zones/Asia/Tokyo")
        #expect(try machine.zone(["TZDIR": "/zones"]).spelling(of: "asia/tokyo") == "Asia/Tokyo")
    }
}
