import Domain

/// How many streams each device has open, on whatever loops. On one loop, which keeps the count of its devices.
final class StreamPlaces {
    private let limit: Int
    private var taken: [DeviceID: Int] = [:]

    /// - Parameter limit: Streams that a device may have open.
    init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: Whether the device had a place left, which it now has taken.
    func take(for device: DeviceID) -> Bool {
        let count = taken[device] ?? 0
        guard count < limit else { return false }
        taken[device] = count + 1
        return true
    }

    func giveBack(by device: DeviceID) {
        guard let count = taken[device] else { return }
        taken[device] = count > 1 ? count - 1 : nil
    }
}
