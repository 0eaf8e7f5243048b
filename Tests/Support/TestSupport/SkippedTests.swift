/// Prints a line for each test that is skipped on this machine. `Sources/Scripts/test.sh` repeats the lines at the end,
/// so that a reader sees what wasn't tested.
package enum SkippedTests {
    package static func report(_ what: String) {
        print("Left out: \(what)")
    }
}
