/// Joins several modules into one script. Each module comes after those that it imports.
package enum ScriptBundle {
    /// Joins the modules, which share one scope. No two may define the same name, and imports keep their names. Each
    /// `import` is on one line.
    package static func join(_ modules: [[UInt8]]) -> String {
        modules.map { module in
            String(decoding: module, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
                .filter { !$0.hasPrefix("import ") }
                .map { $0.hasPrefix("export ") ? $0.dropFirst("export ".count) : $0 }
                .joined(separator: "\n")
        }
        .joined()
    }
}
