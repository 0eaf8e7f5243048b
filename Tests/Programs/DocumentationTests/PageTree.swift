import FoundationEssentials
import TestSupport

/// The repository's files, as far as pages refer to them. Paths are relative to its root, without `.` and `..`.
struct PageTree {
    /// The paths of the pages.
    let pages: [String]
    /// Returns a file's text; `nil` if there is no such file.
    let read: (String) -> String?
    /// Returns whether there is such a file or directory.
    let exists: (String) -> Bool

    /// Returns the tree of this repository.
    static func repository() throws -> PageTree {
        let root = Checkout.root.path
        var pages: [String] = []
        var directories = [""]
        while let directory = directories.popLast() {
            for name in try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(directory)").sorted()
            where !name.hasPrefix(".") || name == ".github" {
                let path = directory + name
                var isDirectory = false
                _ = FileManager.default.fileExists(atPath: "\(root)/\(path)", isDirectory: &isDirectory)
                if isDirectory { directories.append(path + "/") }
                if path.hasSuffix(".md") { pages.append(path) }
            }
        }
        return PageTree(
            pages: pages,
            read: { FileManager.default.contents(atPath: "\(root)/\($0)").map { String(decoding: $0, as: UTF8.self) } },
            exists: { FileManager.default.fileExists(atPath: "\(root)/\($0)") })
    }

    func page(_ path: String) throws -> MarkdownPage {
        guard let text = read(path) else { throw MissingFile(path: path) }
        return MarkdownPage(text)
    }

    struct MissingFile: Error {
        let path: String
    }

    /// Returns the broken links within the repository, each as `page: link`.
    func brokenLinks() throws -> [String] {
        try pages.flatMap { path in
            try page(path).links.filter { !isLiving($0, in: path) }.map { "\(path): \($0)" }
        }
    }

    private func isLiving(_ link: String, in page: String) -> Bool {
        if link.contains(#/^[a-z]+:/#) { return true }
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let target = parts[0].isEmpty ? page : Self.resolve(parts[0], from: page) else { return false }
        guard parts.count > 1 else { return exists(target) }
        return (try? self.page(target))?.anchors.contains(parts[1]) ?? false
    }

    /// Returns the target of a page's link; `nil` if it is outside of the repository.
    static func resolve(_ link: String, from page: String) -> String? {
        guard !link.hasPrefix("/") else { return nil }
        var parts = page.split(separator: "/").dropLast()
        for part in link.split(separator: "/") where part != "." {
            if part != ".." {
                parts.append(part)
            } else if parts.popLast() == nil {
                return nil
            }
        }
        return parts.joined(separator: "/")
    }
}
