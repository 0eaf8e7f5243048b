import FoundationEssentials
import LetsSwitchClient

/// What a terminal shows of a room: what has happened, line by line, and below that how it stands. A value without a clock.
struct RoomView {
    /// One's own; nil for somebody who has promised nothing there.
    private let task: RoomTask?
    private let isFirst: Bool
    private var isIn = false
    private var presence: Presence?
    private var rematch: Room.Rematch?

    /// - Parameter isFirst: Whether what keys do hasn't been said yet.
    init(_ task: RoomTask?, isFirst: Bool = true) {
        self.task = task
        self.isFirst = isFirst
    }

    /// The line of an event; `nil` for what shows below only.
    mutating func heard(_ event: Room.Event) -> String? {
        switch event {
        case .entered:
            isIn = true
            guard isFirst else { return "You are in the new room." }
            let saying = task == nil ? "" : " s says that you have started,"
            return "You are in. Any key cheers, 1 to 5 in a way of their own,\(saying) Ctrl-C leaves."
        case .ale(let cheer): return Self.text(cheer)
        case .presence(let presence):
            let before = self.presence?.partner
            self.presence = presence
            guard let partner = presence.partner, partner != before, partner != .expected else { return nil }
            return text(partner).prefix(1).uppercased() + text(partner).dropFirst() + "."
        case .rematched(let rematch):
            self.rematch = rematch
            return rematch.partnerTitle.map { "Somebody else starts \(Output.inLine($0)) with you, in a new room." }
                ?? "Your partner has gone on with somebody else. You have a new room, and may be joined there."
        case .misunderstood(let reason): return Output.indented(reason)
        case .waiting(let wait):
            (isIn, presence) = (false, nil)
            return "Not in; again in \(wait.roundedUpSeconds) s."
        case .closed(.normal): return rematch == nil ? "The room is closed." : nil
        case .closed: return nil
        }
    }

    /// Below the lines: how long it is to the start, and who is there.
    func status(at now: Date) -> String {
        var parts: [String] = []
        if let task { parts.append(Self.text(secondsToGo: Int((task.startsAt.timeIntervalSince(now)).rounded(.up)))) }
        if isIn, let presence {
            if let partner = presence.partner { parts.append(text(partner)) }
            // Who may be back counts as here for a while.
            if presence.partner != .away {
                parts.append(presence.count == 1 ? "you are alone" : "\(presence.count) are here")
            }
        } else if !isIn {
            parts.append("not in")
        }
        return parts.joined(separator: " · ")
    }

    /// Whether the line below changes with time.
    func countsDown(at now: Date) -> Bool { task.map { $0.startsAt > now } ?? false }

    private func text(_ partner: Presence.Partner) -> String {
        let who = task?.partnerTitle.map { "your partner (\(Output.inLine($0)))" } ?? "your partner"
        return switch partner {
        case .expected: "\(who) isn't here yet"
        case .here: "\(who) is here"
        case .away: "\(who) has lost the connection"
        case .left: "\(who) has left"
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
    /// In whole seconds: nothing comes earlier than it is told.
    var roundedUpSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
