import FoundationEssentials

/// The lookup of this machine's time zone.
///
/// The C library computes with the zone but doesn't return its IANA name, which the server needs. If the name is
/// unknown, the command fails and doesn't assume UTC.
struct LocalZone {
    /// The maximum number of links that are followed to a zone file.
    private static let maximumLinks = 8
    private static let machineFile = "/etc/localtime"

    /// Returns a variable's value, or `nil` if it is missing or empty.
    let environment: (String) -> String?
    /// The directory in front of all paths. Tests use a directory of their own.
    var root = ""

    /// Returns the IANA name of the zone, from the first source that has one: `TZ`, the link `/etc/localtime`,
    /// `/etc/timezone`, and the zone file that `/etc/localtime` is a copy of.
    func name() throws(UsageError) -> String {
        // TZ=:/etc/localtime means the machine's zone.
        if let setting = environment("TZ"), setting != Self.machineFile, setting != ":" + Self.machineFile {
            guard let name = name(ofSetting: setting.hasPrefix(":") ? String(setting.dropFirst()) : setting) else {
                throw UsageError(
                    reason: "TZ=\(setting) isn't a time zone's name; use --zone Europe/London or TZ=Europe/London")
            }
            return name
        }
        let content = SmallFile.read(root + Self.machineFile)
        if let name = name(ofLink: Self.machineFile) ?? nameInFile(content) ?? content.flatMap(files.name(ofContent:)) {
            return name
        }
        throw UsageError(
            reason: "this machine's time zone is unknown; use --zone Europe/London or set TZ=Europe/London")
    }

    /// Returns the name of a zone as the zone files spell it.
    ///
    /// - Throws: An error if no file has this name, because the C library would then compute in UTC.
    func spelling(of name: String) throws(UsageError) -> String {
        guard let spelling = files.spelling(of: name) else {
            throw UsageError(
                reason: """
                    there is no time zone \(name) in \(files.directory); check the spelling, install tzdata, or use an \
                    instant such as --at 2026-11-22T09:00:00Z
                    """)
        }
        return spelling
    }

    private var files: ZoneFiles { ZoneFiles(directory: root + (environment("TZDIR") ?? "/usr/share/zoneinfo")) }

    private func name(ofSetting setting: String) -> String? {
        if setting.hasPrefix("/") {
            return name(ofLink: setting) ?? SmallFile.read(root + setting).flatMap(files.name(ofContent:))
        }
        guard let name = ZoneFiles.name(in: setting) else { return nil }
        // Without a slash and without a file, the setting is a rule such as CET-1, which has no name.
        return files.spelling(of: name) ?? (name.contains("/") || name == "UTC" ? name : nil)
    }

    /// Returns the name in a path, or in the targets of its links.
    private func name(ofLink path: String) -> String? {
        var path = path
        for _ in 0...Self.maximumLinks {
            if let name = ZoneFiles.name(ofPath: path) { return name }
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: root + path) else {
                return nil
            }
            path =
                target.hasPrefix("/")
                ? target : path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/" + target
        }
        return nil
    }

    /// Returns the name in `/etc/timezone`, unless `/etc/localtime` has a different rule. Container images often have
    /// `Etc/UTC` there, even when the machine's `/etc/localtime` is mounted.
    private func nameInFile(_ localtime: [UInt8]?) -> String? {
        let text = String(decoding: SmallFile.read(root + "/etc/timezone") ?? [], as: UTF8.self)
        let line = text.split(whereSeparator: \.isWhitespace).first ?? ""
        guard let name = name(ofSetting: String(line)) else { return nil }
        guard let localtime, let content = files.content(of: name) else { return name }
        return ZoneFiles.rule(of: localtime) == ZoneFiles.rule(of: content) ? name : nil
    }
}
