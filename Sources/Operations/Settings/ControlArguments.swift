import Domain

/// The arguments of `letsswitchd close`, `kick` and similar commands, before the common flags.
struct ControlArguments {
    let order: ControlOrder
    /// The other flags.
    let rest: ArraySlice<String>

    /// - Throws: The first ``UsageError``.
    init(_ name: ControlOrder.Name, _ arguments: ArraySlice<String>) throws(UsageError) {
        var remaining = arguments
        switch name {
        case .connections:
            order = .connections
        case .close, .kick, .remind, .export, .erase:
            guard let target = remaining.first, !target.isEmpty, !target.hasPrefix("--") else {
                throw UsageError("\(name): \(Self.wanted(name)) is missing")
            }
            remaining.removeFirst()
            do throws(RequestError) {
                order = try ControlOrder(name, target: target)
            } catch {
                throw UsageError("\(name): \"\(target)\": must be \(Self.wanted(name))")
            }
        case .drain:
            (order, remaining) = try Self.drain(remaining)
        }
        rest = remaining
    }

    private static func wanted(_ name: ControlOrder.Name) -> String {
        switch name {
        case .close: "the UUID of a room"
        case .kick: "the number of a connection, a device or an address"
        case .remind, .export, .erase: "a device"
        case .connections, .drain: "nothing"
        }
    }

    private static func drain(
        _ arguments: ArraySlice<String>
    ) throws(UsageError) -> (ControlOrder, ArraySlice<String>) {
        var remaining = arguments
        var rest: [String] = []
        var rate = ControlOrder.drainRate
        while let argument = remaining.popFirst() {
            guard let text = try TicketArguments.value(of: "--rate", argument, &remaining) else {
                rest.append(argument)
                continue
            }
            guard let number = Int(text), ControlOrder.drainRates.contains(number) else {
                let range = ControlOrder.drainRates
                throw UsageError(
                    "--rate: \"\(text)\": must be a number of connections per second from \(range.lowerBound) to \(range.upperBound)"
                )
            }
            rate = number
        }
        return (.drain(perSecond: rate), rest[...])
    }
}
