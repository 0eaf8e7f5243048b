/// Makes the page's files ready once, when the first browser asks: a daemon that nobody visits by browser need not have
/// OpenSSL and zlib in memory for them, which is two of its twenty megabytes.
actor PageShelf {
    private let configuration: Configuration
    private var ready: PageAssets?

    init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// - Throws: ``CryptoError`` when there is no SHA-256.
    func assets() throws -> PageAssets {
        if let ready { return ready }
        let assets = try PageAssets(configuration)
        ready = assets
        return assets
    }
}
