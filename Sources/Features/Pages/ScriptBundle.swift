/// Several modules in one script: each after those that it imports.
enum ScriptBundle {
    /// They share one scope: no two have something of the same name, and what is imported keeps its name. An `import` stands on one line.
    static func join(_ modules: [[UInt8]]) -> String {
        modules.map { module in
            String(decoding: module, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
                .filter { !$0.hasPrefix("import ") }
                .map { $0.hasPrefix("export ") ? $0.dropFirst("export ".count) : $0 }
                .joined(separator: "\n")
        }
        .joined()
    }
}
