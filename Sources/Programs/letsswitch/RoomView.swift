import FoundationEssentials
import LetsSwitchClient

/// The terminal's text about a room: a line for each event, and a status line. A value without a clock.
struct RoomView {
    /// The user's own task, or `nil` if the user has no task in the room.
    private let task: RoomTask?
    private let isFirst: Bool
    private var isIn = false
    private var presence: Presence?
    private var rematch: Room.Rematch?

    /// - Parameter isFirst: Whether this is the first room. In the first room, the keys are explained.
    init(_ task: RoomTask?, isFirst: Bool = true) {
        self.task = task
        self.isFirst = isFirst
    }

    /// Returns the line of an event, or `nil` if only the status line changes.
    mutating func receive(_ event: Room.Event) -> String? {
        switch event {
        case .entered:
            isIn = true
            guard isFirst else { return "You are in the new room." }
            let startHint = task == nil ? "" : " Press s when you have started."
            return
                "You are in the room. Press any key to cheer, or 1 to 5 for a kind of cheer.\(startHint) Press Ctrl-C to leave."
        case .ale(let cheer): return Self.text(cheer)
        case .presence(let presence):
            let before = self.presence?.partner
            self.presence = presence
            guard let partner = presence.partner, partner != before, partner != .expected else { return nil }
            return text(partner).prefix(1).uppercased() + text(partner).dropFirst() + "."
        case .rematched(let rematch):
            self.rematch = rematch
            return rematch.partnerTitle.map {
                "Your new partner starts \(Output.inLine($0)). You are moving to a new room."
            }
                ?? "Your partner was matched with somebody else. You are moving to a new room, where somebody may join you."
        case .misunderstood(let reason): return Output.indented(reason)
        case .waiting(let wait):
            (isIn, presence) = (false, nil)
            return "Not in the room. Trying again in \(wait.roundedUpSeconds) s."
        case .closed(.normal): return rematch == nil ? "The room is closed." : nil
        case .closed: return nil
        }
    }

    /// Returns the status line: the time until the start, and the people in the room.
    func status(at now: Date) -> String {
        var parts: [String] = []
        if let task { parts.append(Self.text(secondsToGo: Int((task.startsAt.timeIntervalSince(now)).rounded(.up)))) }
        if isIn, let presence {
            if let partner = presence.partner { parts.append(text(partner)) }
            // The count still includes a partner that has just lost the connection.
            if presence.partner != .away {
                parts.append(presence.count == 1 ? "only you are here" : "\(presence.count) people are here")
            }
        } else if !isIn {
            parts.append("not in the room")
        }
        return parts.joined(separator: " · ")
    }

    /// Whether the status line changes with time.
    func countsDown(at now: Date) -> Bool { task.map { $0.startsAt > now } ?? false }

    private func text(_ partner: Presence.Partner) -> String {
        let name = task?.partnerTitle.map { "your partner (\(Output.inLine($0)))" } ?? "your partner"
        return switch partner {
        case .expected: "\(name) isn't here yet"
        case .here: "\(name) is here"
        case .away: "\(name) has lost the connection"
        case .left: "\(name) has left"
        }
    }

    private static func text(secondsToGo seconds: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return switch seconds {
        case ..<1: "it has started"
        case ..<60: "\(seconds) s to go"
        case ..<3600: "\(seconds / 60):\(two(seconds % 60)) to go"
        default: "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60)) to go"
        }
    }

    private static func text(_ cheer: Cheer) -> String {
        switch cheer {
        case .plain: "Cheers!"
        case .clap: "Applause!"
        case .thumb: "Thumbs up!"
        case .spark: "A spark!"
        case .heart: "A heart!"
        case .fire: "Fire!"
        }
    }
}

extension Duration {
    /// The duration in whole seconds. It is rounded up, so that nothing happens earlier than announced.
    var roundedUpSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
