/// For whom a listener is, and for whom a route: a connection reaches the routes that share an audience with the listener that it
/// came by. Whom they stand for is the application's business, which names them.
package struct Audience: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let everyone = Audience(rawValue: .max)
}
