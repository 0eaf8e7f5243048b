/// `--web-push-…`.
package struct WebPushSettings: Sendable, Equatable {
    /// Whom push services may ask when something is wrong: `mailto:…` or `https:…`. On when it is given.
    package var contact: String?
    /// Whether subscriptions may name addresses that the internet doesn't route, and plain `http`: for tests and for push services
    /// of one's own.
    package var allowsPrivateAddresses = false
    /// Whom to trust instead of the system's authorities: a file in PEM.
    package var caFile: String?
}
