import Crypto

/// The one token of all requests.
actor APNsTokens {
    private var token: APNsToken
    /// Epoch seconds.
    private let now: @Sendable () -> Int

    init(_ credentials: APNsCredentials, now: @escaping @Sendable () -> Int) {
        token = APNsToken(credentials)
        self.now = now
    }

    func text() throws(CryptoError) -> String {
        try token.text(at: now())
    }

    /// See ``APNsToken/hasExpired(_:at:)``.
    func hasExpired(_ text: String) -> Bool {
        token.hasExpired(text, at: now())
    }
}
