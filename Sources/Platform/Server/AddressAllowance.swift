/// An action whose rate is limited per address. The table has a separate rate for each action.
package enum LimitedAction: Int, Sendable, CaseIterable {
    /// A new connection.
    case connection
    /// A request for a WebSocket.
    case upgrade
    /// Any other request.
    case request
    /// A request with an unsafe method (RFC 9110 §9.2.1). Such a request is charged as a `request` too.
    case write
    /// A write that stores something for a long time.
    case registration
    /// Taking a name that other users see. The limit prevents one address from taking all names. Routes charge this
    /// action themselves, see ``Request/wait(for:times:)``.
    case naming
    /// Sending a message that is stored. Handlers charge this action themselves, see ``Request/wait(for:times:)`` and
    /// ``WebSocket/admits(_:times:)``.
    case message
}

/// The limits of one address.
package struct AddressAllowance: Sendable {
    /// The maximum number of open connections; 0 sets no limit.
    package var maxConnections = 0
    package var connections = RateLimit.none
    package var upgrades = RateLimit.none
    package var requests = RateLimit.none
    package var writes = RateLimit.none
    package var registrations = RateLimit.none
    package var names = RateLimit.none
    package var messages = RateLimit.none

    /// Creates an allowance without limits.
    package init() {}

    package init(_ limits: ServerLimits) {
        maxConnections = limits.maxConnectionsPerAddress
        func rate(_ perSecond: Int) -> RateLimit {
            RateLimit(perSecond: perSecond, burst: Int(Double(perSecond) * (limits.addressBurst / .seconds(1))))
        }
        connections = rate(limits.connectionRate)
        upgrades = rate(limits.upgradeRate)
        requests = rate(limits.requestRate)
        writes = rate(limits.writeRate)
        registrations = RateLimit(perDay: limits.registrationsPerDay)
        names = RateLimit(perHour: limits.namesPerHour)
        messages = RateLimit(perDay: limits.messagesPerDay)
    }

    func rate(of action: LimitedAction) -> RateLimit {
        switch action {
        case .connection: connections
        case .upgrade: upgrades
        case .request: requests
        case .write: writes
        case .registration: registrations
        case .naming: names
        case .message: messages
        }
    }

    /// Returns the limits that `count` addresses have together.
    func times(_ count: Int) -> AddressAllowance {
        var sum = self
        sum.maxConnections *= count
        sum.connections = connections.times(count)
        sum.upgrades = upgrades.times(count)
        sum.requests = requests.times(count)
        sum.writes = writes.times(count)
        sum.registrations = registrations.times(count)
        sum.names = names.times(count)
        sum.messages = messages.times(count)
        return sum
    }
}
