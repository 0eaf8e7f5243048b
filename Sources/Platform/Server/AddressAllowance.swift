/// What an address may do only so often; for each of these the table keeps a pace of its own.
package enum LimitedAction: Int, Sendable, CaseIterable {
    /// Connecting.
    case connection
    /// Trying for a WebSocket.
    case upgrade
    /// Any other request.
    case request
    /// A request whose method isn't a safe one (RFC 9110 §9.2.1): it counts as a request too.
    case write
    /// A write that has something new kept for long.
    case registration
    /// Taking a name that others see: whoever took many would leave none to others. Routes pay for it themselves, see ``Request/wait(for:times:)``.
    case naming
    /// Saying something that is kept. Handlers pay for it themselves, see ``Request/wait(for:times:)`` and ``WebSocket/admits(_:times:)``.
    case message
}

/// What one address may.
package struct AddressAllowance: Sendable {
    /// Connections open at once; 0 sets no limit.
    package var maxConnections = 0
    package var connections = RateLimit.none
    package var upgrades = RateLimit.none
    package var requests = RateLimit.none
    package var writes = RateLimit.none
    package var registrations = RateLimit.none
    package var names = RateLimit.none
    package var messages = RateLimit.none

    /// No limit at all.
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

    /// What `count` addresses may together.
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
