/// Reports what a test skips on this machine, in a line that `Sources/Scripts/test.sh` repeats at the end, so that a
/// passed run doesn't seem to cover more than it did.
package enum LeftOut {
    package static func say(_ what: String) {
        print("Left out: \(what)")
    }
}
