/// The file with this user's server: the first line of `$XDG_CONFIG_HOME/letsswitch/server` that isn't a comment.
struct ServerFile {
    let path: String

    init?(environment: (String) -> String?) {
        guard let directory = environment("XDG_CONFIG_HOME") ?? environment("HOME").map({ $0 + "/.config" }),
            directory.hasPrefix("/")
        else { return nil }
        path = directory + "/letsswitch/server"
    }

    /// Returns the address, or `nil` if the file is missing, unreadable or empty.
    func read() -> String? {
        SmallFile.read(path).flatMap { Self.address(in: String(decoding: $0, as: UTF8.self)) }
    }

    static func address(in text: String) -> String? {
        // CR LF is one character, so it is one line break.
        text.split(whereSeparator: \.isNewline).lazy
            .map { line in line.split(whereSeparator: { $0 == " " || $0 == "\t" }).first ?? "" }
            .first { !$0.isEmpty && !$0.hasPrefix("#") }.map(String.init)
    }
}
