import FuzzProperties
import Glibc

/// The fuzz target that `FUZZ_TARGET` names. libFuzzer has its own `main` and options.
private let target: FuzzTarget = {
    guard let name = getenv("FUZZ_TARGET").map({ String(cString: $0) }), let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        report("FUZZ_TARGET is one of \(names)")
        exit(2)
    }
    return target
}()

/// Called by libFuzzer with every input. If a property doesn't hold, the process ends, and libFuzzer writes the input
/// to a file.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do throws(BrokenProperty) {
        try target.check(UnsafeRawBufferPointer(start: bytes, count: count))
    } catch {
        report("\(target.rawValue): \(error)")
        abort()
    }
    return 0
}

private func report(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
}
