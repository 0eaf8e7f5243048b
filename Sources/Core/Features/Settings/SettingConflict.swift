/// Settings that contradict each other, or a setting that lacks another one. The message names the flags.
package struct SettingConflict: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
