import CQRencode
import Glibc

/// A QR code of a text (ISO/IEC 18004), made by libqrencode. `nil` if the library is missing; the page then shows only
/// the text.
package struct QRCode: Sendable {
    /// The number of modules on each side.
    package let width: Int
    /// Whether each module is dark, row by row.
    package let modules: [Bool]

    /// The width of the light border around the code in modules, required by the standard.
    private static let margin = 4
    /// The largest code holds 2,331 bytes at this level of correction. Addresses that people scan are much shorter.
    private static let maximumBytes = 1_024

    package init?(_ text: String) {
        guard let library = QRLibrary.loaded, text.utf8.count <= Self.maximumBytes else { return nil }
        let bytes = Array(text.utf8)
        // Selects the smallest version that fits. At level M, scanners can read the code even if about a seventh of it
        // is damaged.
        guard let code = library.encode(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M) else { return nil }
        defer { library.free(code) }
        width = Int(code.pointee.width)
        guard (21...177).contains(width), let data = code.pointee.data else { return nil }
        // The lowest bit is the colour. The other bits describe the module's purpose.
        modules = (0..<width * width).map { data[$0] & 1 == 1 }
    }

    /// Returns the drawing, dark on light in every colour scheme, because many readers require it.
    package func svg(label: String) -> String {
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
            <svg role="img" aria-label="\(HTMLText.escape(label))" viewBox="0 0 \(side) \(side)" \
            shape-rendering="crispEdges"><path fill="#fff" d="M0 0h\(side)v\(side)H0z"/><path d="\(path)"/></svg>
            """
    }
}

/// libqrencode. It is loaded at the first use and never unloaded.
private struct QRLibrary: @unchecked Sendable {
    // Safe to send: the pointers to C functions never change after loading, and Debian's library is built for threads.

    static let loaded = QRLibrary()

    let encode:
        @convention(c) (Int32, UnsafePointer<UInt8>?, Int32, QRecLevel) -> UnsafeMutablePointer<CQRencode.QRcode>?
    let free: @convention(c) (UnsafeMutablePointer<CQRencode.QRcode>?) -> Void

    private init?() {
        guard let handle = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL),
            let encode = dlsym(handle, "QRcode_encodeData"), let free = dlsym(handle, "QRcode_free")
        else { return nil }
        // Pointers to C functions have the size of other pointers (POSIX, dlsym).
        self.encode = unsafeBitCast(
            encode,
            to: (@convention(c) (Int32, UnsafePointer<UInt8>?, Int32, QRecLevel) -> UnsafeMutablePointer<
                CQRencode.QRcode
            >?).self)
        self.free = unsafeBitCast(free, to: (@convention(c) (UnsafeMutablePointer<CQRencode.QRcode>?) -> Void).self)
    }
}
