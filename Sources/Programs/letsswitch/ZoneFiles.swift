import FoundationEssentials
import Glibc

/// The zone files of tzdata below one directory, such as `/usr/share/zoneinfo`.
struct ZoneFiles {
    /// The maximum number of files and folders that a search visits. tzdata has 1,800 of them, including its three
    /// copies.
    private static let maximumVisits = 5_000

    let directory: String

    /// Returns the IANA name in a text such as `Europe/Prague` or `posix/Europe/Prague`, or `nil` if it can't be one.
    static func name(in text: String) -> String? {
        var parts = text.split(separator: "/")
        if let first = parts.first, first == "posix" || first == "right" { parts.removeFirst() }
        let name = parts.joined(separator: "/")
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "+"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        // These files are settings of the machine, not IANA zones.
        return isName && !["", "localtime", "posixrules", "Factory"].contains(name) ? name : nil
    }

    /// Returns the IANA name of a path below any directory `zoneinfo`.
    static func name(ofPath path: String) -> String? {
        let parts = path.split(separator: "/")
        guard let start = parts.lastIndex(of: "zoneinfo") else { return nil }
        return name(in: parts[(start + 1)...].joined(separator: "/"))
    }

    /// Returns the last line of a zone file's content: the rule for all later years (RFC 9636 §3.3).
    static func rule(of content: [UInt8]) -> ArraySlice<UInt8>? {
        content.split(separator: UInt8(ascii: "\n")).last
    }

    /// Returns the content of a zone's file.
    func content(of name: String) -> [UInt8]? {
        guard let content = SmallFile.read("\(directory)/\(name)"), content.starts(with: "TZif".utf8) else {
            return nil
        }
        return content
    }

    /// Returns the name as the files spell it, ignoring case, or `nil` if no file has the name.
    func spelling(of name: String) -> String? {
        guard let name = Self.name(in: name) else { return nil }
        var path = ""
        for part in name.split(separator: "/") {
            let entries = entries(of: path)
            guard
                let entry = entries.first(where: { $0 == part })
                    ?? entries.first(where: { $0.lowercased() == part.lowercased() })
            else { return nil }
            path = Self.join(path, entry)
        }
        return content(of: path) == nil ? nil : path
    }

    /// Returns the name of the first zone file with this content. Several names can have the same content, so names of
    /// places come before other names.
    func name(ofContent content: [UInt8]) -> String? {
        if let name = listedNames.first(where: { isRegular($0) && self.content(of: $0) == content }) { return name }
        var visits = 0
        var folders = [""]
        while let folder = folders.first {
            folders.removeFirst()
            for entry in entries(of: folder) {
                visits += 1
                guard visits <= Self.maximumVisits else { return nil }
                let path = Self.join(folder, entry)
                if type(of: path) == S_IFDIR {
                    folders.append(path)
                } else if isRegular(path), let name = Self.name(in: path), self.content(of: path) == content {
                    return name
                }
            }
        }
        return nil
    }

    /// The names of places in zone.tab, and then those of all zones in tzdata.zi.
    private var listedNames: [String] {
        let places = lines(of: "zone.tab").compactMap { line -> Substring? in
            let columns = line.split(separator: "\t")
            return line.hasPrefix("#") || columns.count < 3 ? nil : columns[2]
        }
        let zones = lines(of: "tzdata.zi").compactMap { line -> Substring? in
            let words = line.split(separator: " ")
            return words.first == "Z" && words.count > 1 ? words[1] : nil
        }
        return (places + zones).compactMap { Self.name(in: String($0)) }
    }

    private func lines(of file: String) -> [Substring] {
        String(decoding: SmallFile.read("\(directory)/\(file)") ?? [], as: UTF8.self).split(whereSeparator: \.isNewline)
    }

    private func entries(of folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: Self.join(directory, folder))) ?? []).sorted()
    }

    private func isRegular(_ name: String) -> Bool { type(of: name) == S_IFREG }

    /// Returns the type of a file or folder. Links aren't followed. The target of a link has its own name, or is
    /// outside of this directory.
    private func type(of name: String) -> mode_t {
        var about = stat()
        return lstat("\(directory)/\(name)", &about) == 0 ? about.st_mode & S_IFMT : 0
    }

    private static func join(_ folder: String, _ entry: String) -> String {
        folder.isEmpty || entry.isEmpty ? folder + entry : "\(folder)/\(entry)"
    }
}
