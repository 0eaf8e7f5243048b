import Testing

@testable import Sockets

/// Memory pages that only the start of the process needed.
@Suite struct StartPagesTests {
    @Test("A changed page is distinguished from an unchanged one") func changedPagesAreKnown() {
        let (present, swapped, file) = (UInt64(1) << 63, UInt64(1) << 62, UInt64(1) << 61)
        #expect(StartPages.isAsInFile(0))
        #expect(StartPages.isAsInFile(present | file | 0x1234))
        #expect(!StartPages.isAsInFile(present | 0x1234))
        #expect(!StartPages.isAsInFile(swapped))
        #expect(!StartPages.isAsInFile(swapped | file))
    }

    @Test("Pages are released repeatedly, and used ones come back") func theyAreGivenBack() async {
        for _ in 0..<3 { #expect(StartPages.release() > 1_000_000) }
        let sums = await withTaskGroup(of: Int.self, returning: [Int].self) { group in
            for number in 0..<4 {
                group.addTask {
                    if number == 0 { StartPages.release() }
                    return (0...1_000).reduce(0, +)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sums == Array(repeating: 500_500, count: 4))
    }
}
