import Glibc

/// Who this user is: an id made once, in `$XDG_STATE_HOME/letsswitch/device`, which nobody else may read.
struct DeviceFile {
    let path: String

    init?(environment: (String) -> String?) {
        guard let state = environment("XDG_STATE_HOME") ?? environment("HOME").map({ $0 + "/.local/state" }),
            state.hasPrefix("/")
        else { return nil }
        path = state + "/letsswitch/device"
    }

    /// The id that stands there, or a new one.
    func read() throws(UsageError) -> String {
        if let id = stored() { return id }
        makeDirectories()
        let id = "terminal-" + Self.randomName()
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        // Another one may have come first: then it is that one's.
        if descriptor < 0, let id = stored() { return id }
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        let text = Array("\(id)\n".utf8)
        guard write(descriptor, text, text.count) == text.count else { throw failure() }
        return id
    }

    private func failure() -> UsageError {
        UsageError(reason: "\(path): \(String(cString: strerror(errno))); --device does without it")
    }

    private func stored() -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        let line = bytes.prefix(max(0, count)).prefix { $0 != 0x0A }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    private func makeDirectories() {
        var place = ""
        // What fails here shows when the file is made.
        for part in path.split(separator: "/").dropLast() {
            place += "/" + part
            mkdir(place, 0o700)
        }
    }

    private static func randomName() -> String {
        (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
    }
}
