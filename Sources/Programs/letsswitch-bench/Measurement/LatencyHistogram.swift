/// A histogram of latencies. The width of a bucket is at most 1/64 of its value, so a percentile is accurate to 1.6 %.
/// Adding a latency takes a few instructions and allocates no memory.
struct LatencyHistogram {
    /// The number of buckets for each doubling of the latency.
    private static let fine = 64
    private var counts = [UInt32](repeating: 0, count: 58 * LatencyHistogram.fine + LatencyHistogram.fine)
    private(set) var count = 0

    /// Adds a latency.
    mutating func add(nanoseconds: UInt64) {
        counts[Self.bucket(nanoseconds)] &+= 1
        count += 1
    }

    static func += (left: inout LatencyHistogram, right: LatencyHistogram) {
        for index in left.counts.indices { left.counts[index] += right.counts[index] }
        left.count += right.count
    }

    /// Returns the latency in microseconds at a quantile such as 0.5 or 0.99; 0 if the histogram is empty.
    func microseconds(quantile: Double) -> Double {
        let wanted = max(1, Int((Double(count) * quantile).rounded(.up)))
        var sum = 0
        for (index, number) in counts.enumerated() {
            sum += Int(number)
            if sum >= wanted { return Self.middle(index) / 1e3 }
        }
        return 0
    }

    /// Returns the bucket of a value. Each value below 64 has its own bucket. Above, each doubling has 64 buckets.
    private static func bucket(_ value: UInt64) -> Int {
        guard value >= UInt64(fine) else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        let mantissa = Int(value >> UInt64(exponent - 6)) - fine
        return (exponent - 5) * fine + mantissa
    }

    private static func middle(_ bucket: Int) -> Double {
        guard bucket >= fine else { return Double(bucket) }
        let shift = bucket / fine - 1
        return (Double(fine + bucket % fine) + 0.5) * Double(UInt64(1) << UInt64(shift))
    }
}
