import CCurl
import CLinux
import Glibc

/// libcurl, loaded at first use and never unloaded. A daemon that sends no requests doesn't load it.
///
/// `@unchecked Sendable` is safe because the pointers are constant after loading. Any thread may call libcurl's
/// functions, as long as each handle is used by one thread at a time.
struct CurlLibrary: @unchecked Sendable {
    private static let names = ["libcurl.so.4", "libcurl-gnutls.so.4"]
    /// The oldest supported version: 7.85, the first with `CURLOPT_PROTOCOLS_STR`.
    private static let oldestVersion: UInt32 = 0x07_55_00

    private static let loaded = Result<CurlLibrary, HTTPClientError> { () throws(HTTPClientError) in try CurlLibrary() }

    /// Returns the library. The first call loads it, which takes some milliseconds.
    static func load() throws(HTTPClientError) -> CurlLibrary {
        try loaded.get()
    }

    /// Whether the dynamic linker's cache lists the library. The check doesn't load the library, which would take
    /// megabytes until the process ends.
    static var isListed: Bool? {
        let descriptor = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { _ = close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size > 0, status.st_size < 16_777_216,
            let cache = mmap(nil, Int(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0), cache != MAP_FAILED
        else { return nil }
        defer { munmap(cache, Int(status.st_size)) }
        return names.contains { name in
            name.withCString { memmem(cache, UInt(status.st_size), $0, UInt(strlen($0)) + 1) != nil }
        }
    }

    let version: String
    let easyInit: @convention(c) () -> UnsafeMutableRawPointer?
    let easyCleanup: @convention(c) (UnsafeMutableRawPointer?) -> Void
    let easyReset: @convention(c) (UnsafeMutableRawPointer?) -> Void
    let easyText: @convention(c) (CURLcode) -> UnsafePointer<CChar>?
    let listAppend:
        @convention(c) (UnsafeMutablePointer<curl_slist>?, UnsafePointer<CChar>?) -> UnsafeMutablePointer<curl_slist>?
    let listFree: @convention(c) (UnsafeMutablePointer<curl_slist>?) -> Void
    let multiInit: @convention(c) () -> UnsafeMutableRawPointer?
    let multiCleanup: @convention(c) (UnsafeMutableRawPointer?) -> CURLMcode
    let multiAdd: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CURLMcode
    let multiRemove: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CURLMcode
    let multiSocketAction:
        @convention(c) (UnsafeMutableRawPointer?, Int32, Int32, UnsafeMutablePointer<Int32>?) -> CURLMcode
    let multiInfoRead:
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> UnsafeMutablePointer<CURLMsg>?
    /// A variadic function, so it is called through a function in C.
    let easySet: UnsafeMutableRawPointer
    let easyGet: UnsafeMutableRawPointer
    let multiSet: UnsafeMutableRawPointer

    private init() throws(HTTPClientError) {
        guard let handle = Self.names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
            throw .libraryMissing("libcurl is missing: apt-get install libcurl4")
        }
        func symbol(_ name: String) throws(HTTPClientError) -> UnsafeMutableRawPointer {
            guard let symbol = dlsym(handle, name) else {
                throw .libraryMissing("libcurl has no \(name): 7.85 or later is needed")
            }
            return symbol
        }
        func function<F>(_ name: String, as type: F.Type) throws(HTTPClientError) -> F {
            // A pointer to a C function has the same size as any other pointer (POSIX, dlsym).
            unsafeBitCast(try symbol(name), to: type)
        }
        let info = try function(
            "curl_version_info",
            as: (@convention(c) (CURLversion) -> UnsafeMutablePointer<curl_version_info_data>?).self)
        let initialise = try function("curl_global_init", as: (@convention(c) (Int) -> CURLcode).self)
        guard let data = info(CCURLVERSION_NOW), let name = data.pointee.version else {
            throw .libraryMissing("libcurl doesn't report its version")
        }
        version = String(cString: name)
        guard data.pointee.version_num >= Self.oldestVersion else {
            throw .libraryMissing("libcurl \(version) is too old: 7.85 or later is needed")
        }
        // This must be called once per process, before other functions. The call also initialises OpenSSL, even if
        // OpenSSL is initialised already.
        guard initialise(Int(CCURL_GLOBAL_DEFAULT)) == CURLE_OK else {
            throw .libraryMissing("libcurl \(version) can't be initialised")
        }
        easyInit = try function("curl_easy_init", as: (@convention(c) () -> UnsafeMutableRawPointer?).self)
        easyCleanup = try function("curl_easy_cleanup", as: (@convention(c) (UnsafeMutableRawPointer?) -> Void).self)
        easyReset = try function("curl_easy_reset", as: (@convention(c) (UnsafeMutableRawPointer?) -> Void).self)
        easyText = try function("curl_easy_strerror", as: (@convention(c) (CURLcode) -> UnsafePointer<CChar>?).self)
        listAppend = try function(
            "curl_slist_append",
            as: (@convention(c) (UnsafeMutablePointer<curl_slist>?, UnsafePointer<CChar>?)
                -> UnsafeMutablePointer<curl_slist>?).self)
        listFree = try function(
            "curl_slist_free_all", as: (@convention(c) (UnsafeMutablePointer<curl_slist>?) -> Void).self)
        multiInit = try function("curl_multi_init", as: (@convention(c) () -> UnsafeMutableRawPointer?).self)
        multiCleanup = try function(
            "curl_multi_cleanup", as: (@convention(c) (UnsafeMutableRawPointer?) -> CURLMcode).self)
        multiAdd = try function(
            "curl_multi_add_handle",
            as: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CURLMcode).self)
        multiRemove = try function(
            "curl_multi_remove_handle",
            as: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> CURLMcode).self)
        multiSocketAction = try function(
            "curl_multi_socket_action",
            as: (@convention(c) (UnsafeMutableRawPointer?, Int32, Int32, UnsafeMutablePointer<Int32>?) -> CURLMcode)
                .self)
        multiInfoRead = try function(
            "curl_multi_info_read",
            as: (@convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?)
                -> UnsafeMutablePointer<CURLMsg>?).self)
        easySet = try symbol("curl_easy_setopt")
        easyGet = try symbol("curl_easy_getinfo")
        multiSet = try symbol("curl_multi_setopt")
    }

    func describe(_ code: CURLcode) -> String {
        easyText(code).map { String(cString: $0) } ?? "libcurl's error \(code.rawValue)"
    }
}
