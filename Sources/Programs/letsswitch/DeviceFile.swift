import Glibc

/// Who this user is: an id made once, in `$XDG_STATE_HOME/letsswitch/device`, which nobody else may read.
struct DeviceFile {
    let path: String

    init?(environment: (String) -> String?) {
        // The XDG Base Directory Specification has relative paths ignored.
        func absolute(_ name: String) -> String? { environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        guard let state = absolute("XDG_STATE_HOME") ?? absolute("HOME").map({ $0 + "/.local/state" }) else {
            return nil
        }
        path = state + "/letsswitch/device"
    }

    /// The id that stands there, or a new one.
    func read() throws(UsageError) -> String {
        if let id = try stored() { return id }
        makeDirectories()
        let id = "terminal-" + Self.randomName()
        let draft = path + "." + Self.randomName()
        try write(id, to: draft)
        defer { unlink(draft) }
        // All of it or nothing; and whoever comes second takes what the first one made.
        if link(draft, path) == 0 { return id }
        let code = errno
        if let id = try stored() { return id }
        // An empty file is nobody's; and some file systems have no links.
        guard code == EEXIST || code == EPERM || code == EOPNOTSUPP, rename(draft, path) == 0 else {
            throw failure(code)
        }
        return id
    }

    private func write(_ id: String, to draft: String) throws(UsageError) {
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure(errno) }
        let text = Array("\(id)\n".utf8)
        let isWritten = Glibc.write(descriptor, text, text.count) == text.count && fsync(descriptor) == 0
        let code = errno
        guard close(descriptor) == 0, isWritten else {
            unlink(draft)
            throw failure(code)
        }
    }

    private func failure(_ code: CInt) -> UsageError {
        UsageError(reason: "\(path): \(String(cString: strerror(code))); --device does without it")
    }

    /// `nil` when there is none, or an empty one.
    ///
    /// - Throws: when others could have read it: whoever knows the id can do what this user can.
    private func stored() throws(UsageError) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw failure(errno) }
            return nil
        }
        defer { close(descriptor) }
        var about = stat()
        guard fstat(descriptor, &about) == 0 else { throw failure(errno) }
        guard about.st_mode & S_IFMT == S_IFREG, about.st_mode & 0o077 == 0 else {
            throw UsageError(reason: "\(path): others can read it; chmod 600, or --device does without it")
        }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw failure(errno) }
        let line = bytes.prefix(count).prefix { $0 != 0x0A }
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
