import Glibc

/// The file `$XDG_STATE_HOME/letsswitch/device` with this user's device id. The id is created once; only this user may
/// read the file.
struct DeviceFile {
    let path: String

    init?(environment: (String) -> String?) {
        // The XDG Base Directory Specification requires that relative paths are ignored.
        func absolute(_ name: String) -> String? { environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil } }
        guard let state = absolute("XDG_STATE_HOME") ?? absolute("HOME").map({ $0 + "/.local/state" }) else {
            return nil
        }
        path = state + "/letsswitch/device"
    }

    /// Returns the stored id, or stores and returns a new one.
    func read() throws(UsageError) -> String {
        if let id = try stored() { return id }
        makeDirectories()
        let id = "terminal-" + Self.randomName()
        let draft = path + "." + Self.randomName()
        try write(id, to: draft)
        defer { unlink(draft) }
        // The file appears with its whole content. If a different process created the file first, its id is used.
        if link(draft, path) == 0 { return id }
        let code = errno
        if let id = try stored() { return id }
        // The draft replaces an empty file, or is renamed if the file system has no links.
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
        UsageError(reason: "\(path): \(String(cString: strerror(code))); use --device to run without this file")
    }

    /// Returns the stored id, or `nil` if the file is missing or empty.
    ///
    /// - Throws: An error if other users could have read the file, because anyone who knows the id can act as this
    ///   user.
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
            throw UsageError(reason: "\(path): other users can read this file; run chmod 600 on it, or use --device")
        }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw failure(errno) }
        let line = bytes.prefix(count).prefix { $0 != 0x0A }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    private func makeDirectories() {
        var place = ""
        // A failure isn't reported here. The creation of the file then fails and reports it.
        for part in path.split(separator: "/").dropLast() {
            place += "/" + part
            mkdir(place, 0o700)
        }
    }

    private static func randomName() -> String {
        (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
    }
}
