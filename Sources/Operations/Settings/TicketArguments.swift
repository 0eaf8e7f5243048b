import Access
import Domain
import Features

/// The arguments of `letsswitchd ticket`: a device, `--for` and `--topics`, and the common flags.
struct TicketArguments {
    static let defaultLifetime: Duration = .seconds(3_600)
    private static let longestLifetime: Duration = .seconds(3_650 * 86_400)

    let order: TicketOrder
    /// The other flags.
    let rest: [String]

    /// - Throws: The first ``UsageError``.
    init(_ arguments: ArraySlice<String>) throws(UsageError) {
        guard let name = arguments.first, !name.hasPrefix("--") else {
            throw UsageError("ticket: a device is missing: letsswitchd ticket DEVICE --for 1h")
        }
        var remaining = arguments.dropFirst()
        var rest: [String] = []
        var lifetime = Self.defaultLifetime
        var topics: [TopicPattern]?
        while let argument = remaining.popFirst() {
            if let text = try Self.value(of: "--for", argument, &remaining) {
                lifetime = try Self.lifetime(text)
            } else if let text = try Self.value(of: "--topics", argument, &remaining) {
                topics = (topics ?? []) + text.split(separator: ",").map { TopicPattern(String($0)) }
            } else {
                rest.append(argument)
            }
        }
        guard topics?.count ?? 0 <= Ticket.maximumTopics else {
            throw UsageError("--topics: at most \(Ticket.maximumTopics) topics are allowed")
        }
        order = TicketOrder(device: try Self.device(name), lifetime: lifetime, topics: topics)
        self.rest = rest
    }

    /// Returns the value of the flag, if `argument` is that flag.
    static func value(
        of flag: String, _ argument: String, _ remaining: inout ArraySlice<String>
    ) throws(UsageError) -> String? {
        if argument.hasPrefix("\(flag)=") { return String(argument.dropFirst(flag.count + 1)) }
        guard argument == flag else { return nil }
        guard let value = remaining.first, !value.hasPrefix("--") else {
            throw UsageError("\(flag): a value is missing")
        }
        remaining.removeFirst()
        return value
    }

    private static func lifetime(_ text: String) throws(UsageError) -> Duration {
        do throws(InvalidValue) {
            let lifetime = try DurationText.parse(text)
            guard (.seconds(1)...longestLifetime).contains(lifetime) else {
                throw InvalidValue(text, "must be a duration from 1s to \(DurationText.format(longestLifetime))")
            }
            return lifetime
        } catch {
            throw UsageError(source: "--for", error)
        }
    }

    private static func device(_ text: String) throws(UsageError) -> DeviceID {
        do throws(RequestError) {
            return try DeviceID(text)
        } catch {
            throw UsageError("ticket: \(error.reason)")
        }
    }
}
