import Sockets
package import Wire

/// Contents for many subscribers, in frames that are encoded once for all subscriptions with the same identifier. On a
/// loop.
package final class SharedContents {
    private let contents: [CableContent]
    private var frames: [CableIdentifier: [SharedBytes]] = [:]

    package init(_ contents: [CableContent]) {
        self.contents = contents
    }

    func frames(for identifier: CableIdentifier) -> [SharedBytes] {
        if let known = frames[identifier] { return known }
        let made = contents.map { CableConnection.frame(.message(identifier, $0)) }
        frames[identifier] = made
        return made
    }
}
