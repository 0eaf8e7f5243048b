import CQRencode
import Glibc

/// A text as a QR code (ISO/IEC 18004), by libqrencode. `nil` where the library is missing: then the text has to do.
struct QRCode: Sendable {
    /// Modules on each side.
    let width: Int
    /// Row by row; whether a module is dark.
    let modules: [Bool]

    /// Light modules around it, which the standard asks for.
    private static let margin = 4
    /// What the largest code takes at this level of correction is 2,331 bytes; addresses that people scan are far shorter.
    private static let maximumBytes = 1_024

    init?(_ text: String) {
        guard let library = QRLibrary.loaded, text.utf8.count <= Self.maximumBytes else { return nil }
        let bytes = Array(text.utf8)
        // Any version that holds it; a seventh of it may be damaged.
        guard let code = library.encode(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M) else { return nil }
        defer { library.free(code) }
        width = Int(code.pointee.width)
        guard (21...177).contains(width), let data = code.pointee.data else { return nil }
        // The lowest bit is the colour, the others are about how the module came there.
        modules = (0..<width * width).map { data[$0] & 1 == 1 }
    }

    /// The drawing: dark on light whatever the page's colours, since many readers want it so.
    func svg(label: String) -> String {
        let side = width + 2 * Self.margin
        var path = ""
        for row in 0..<width {
            var column = 0
            while column < width {
                let start = column
                while column < width, modules[row * width + column] { column += 1 }
                if column > start {
                    path += "M\(start + Self.margin) \(row + Self.margin)h\(column - start)v1H\(start + Self.margin)z"
                }
                column += 1
            }
        }
        return """
            <svg role="img" aria-label="\(QuestionDocument.escape(label))" viewBox="0 0 \(side) \(side)" \
            shape-rendering="crispEdges"><path fill="#fff" d="M0 0h\(side)v\(side)H0z"/><path d="\(path)"/></svg>
            """
    }
}

/// libqrencode, loaded when it is first asked for, and never unloaded.
private struct QRLibrary: @unchecked Sendable {
    // Sendable holds: the pointers to C's functions never change once they are found, and Debian's library is built for threads.

    static let loaded = QRLibrary()

    let encode:
        @convention(c) (Int32, UnsafePointer<UInt8>?, Int32, QRecLevel) -> UnsafeMutablePointer<CQRencode.QRcode>?
    let free: @convention(c) (UnsafeMutablePointer<CQRencode.QRcode>?) -> Void

    private init?() {
        guard let handle = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL),
            let encode = dlsym(handle, "QRcode_encodeData"), let free = dlsym(handle, "QRcode_free")
        else { return nil }
        // A pointer to a C function is as wide as any other (POSIX, dlsym).
        self.encode = unsafeBitCast(
            encode,
            to: (@convention(c) (Int32, UnsafePointer<UInt8>?, Int32, QRecLevel) -> UnsafeMutablePointer<
                CQRencode.QRcode
            >?).self)
        self.free = unsafeBitCast(free, to: (@convention(c) (UnsafeMutablePointer<CQRencode.QRcode>?) -> Void).self)
    }
}
