import Observability

/// What the rooms count. Any thread.
struct RoomMetrics: Sendable {
    /// Peers that found their room full.
    let turnedAway = Counter()
}
