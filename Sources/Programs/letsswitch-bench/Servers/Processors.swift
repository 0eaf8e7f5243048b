import CLinux
import Glibc

/// A set of processors that a thread and its child processes may run on (sched_setaffinity(2)).
struct Processors: Equatable, CustomStringConvertible {
    /// The number of words for 1,024 processors, the kernel's usual limit.
    private static let words = 16
    private var words: [UInt64]

    /// The processors that this thread may run on now.
    static func current() throws(BenchFailure) -> Processors {
        var set = Processors(words: Array(repeating: 0, count: words))
        let bytes = UInt(words * MemoryLayout<UInt64>.size)
        guard sched_getaffinity(0, bytes, &set.words) >= 0 else { throw BenchFailure(call: "sched_getaffinity") }
        return set
    }

    /// The processors' numbers, from 0.
    var numbers: [Int] {
        (0..<(words.count * 64)).filter { words[$0 / 64] >> UInt64($0 % 64) & 1 == 1 }
    }

    /// Returns the processor at `index`, from 0; `nil` if there are fewer processors.
    func single(_ index: Int) -> Processors? {
        guard index < numbers.count else { return nil }
        var set = Processors(words: Array(repeating: 0, count: words.count))
        set.words[numbers[index] / 64] = 1 << UInt64(numbers[index] % 64)
        return set
    }

    /// Restricts this thread to these processors, and all processes that it starts from now on.
    func bind() throws(BenchFailure) {
        let bytes = UInt(words.count * MemoryLayout<UInt64>.size)
        guard sched_setaffinity(0, bytes, words) == 0 else { throw BenchFailure(call: "sched_setaffinity") }
    }

    var description: String { numbers.map(String.init).joined(separator: ",") }
}
