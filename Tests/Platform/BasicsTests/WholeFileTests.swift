import Basics
import Foundation
import Testing

@Suite struct WholeFileTests {
    private func with(_ body: (String) throws -> Void) throws {
        let directory = NSTemporaryDirectory() + "/whole-file-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory)
    }

    @Test("A file is read up to its limit", arguments: [0, 1, 16_384, 16_385, 50_000])
    func limits(count: Int) throws {
        try with { directory in
            let path = directory + "/file"
            let content = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            try Data(content).write(to: URL(filePath: path))
            #expect(chmod(path, 0o640) == 0)
            let file = try WholeFile(path, limit: count)
            #expect(file.bytes == content)
            #expect(file.mode & 0o777 == 0o640)
            guard count > 0 else { return }
            #expect(throws: WholeFile.Failure.tooLarge(limit: count - 1)) { try WholeFile(path, limit: count - 1) }
        }
    }

    @Test("A file of the kernel, whose size is 0, is read as a whole")
    func kernelFile() throws {
        #expect(try WholeFile("/proc/self/stat", limit: 65_536).text.contains(")"))
    }

    @Test("A missing file, a directory and a FIFO without a writer are refused at once")
    func refused() throws {
        try with { directory in
            let pipe = directory + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            #expect(throws: WholeFile.Failure.unreadable(ENOENT)) { try WholeFile(directory + "/none", limit: 1) }
            #expect(throws: WholeFile.Failure.notRegular) { try WholeFile(directory, limit: 1) }
            #expect(throws: WholeFile.Failure.notRegular) { try WholeFile(pipe, limit: 1) }
            #expect(throws: WholeFile.Failure.unreadable(EISDIR)) {
                try WholeFile(directory, limit: 1, isRegular: false)
            }
            let empty = try WholeFile(pipe, limit: 1, isRegular: false)
            #expect(empty.bytes == [])
        }
    }
}
