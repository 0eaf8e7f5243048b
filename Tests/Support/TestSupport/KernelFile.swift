import Glibc

/// A file of `/proc`, whose text the kernel makes at each read.
package enum KernelFile {
    /// Reads the file to its end. It has no size, so Foundation's `String(contentsOfFile:)` stops after the first page.
    package static func read(_ path: String) throws -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ClientFailure.system(call: "open", code: errno) }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var page = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &page, page.count)
            guard count >= 0 else { throw ClientFailure.system(call: "read", code: errno) }
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += page[..<count]
        }
    }
}
