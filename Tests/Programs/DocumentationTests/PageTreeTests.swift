import Testing

/// Tests of the checker of links: it must find broken links.
@Suite struct PageTreeTests {
    private func broken(_ files: [String: String]) throws -> [String] {
        try PageTree(
            pages: files.keys.filter { $0.hasSuffix(".md") }.sorted(), read: { files[$0] },
            exists: { path in files.keys.contains { $0 == path || $0.hasPrefix(path + "/") } }
        ).brokenLinks()
    }

    @Test(
        "A link to a file, a directory or a heading is accepted",
        arguments: [
            "[a](A/B.md)", "[a](A)", "[a](A/../C.md)", "[a](#one-page)", "[a](A/B.md#it-s--two)",
            "[a](https://x.test/no)",
            "[a](mailto:a@x.test)", "`[a](no.md)`", "```\n[a](no.md)\n```", "![a](A/C.webp)", "[a\nb](C.md)",
            "[`a`](C.md)",
        ])
    func living(link: String) throws {
        #expect(
            try broken([
                "README.md": "# One, page\n\(link)\n", "A/B.md": "## It-'s, “ two”", "C.md": "", "A/C.webp": "",
            ])
                == [])
    }

    @Test(
        "A broken link is found",
        arguments: [
            "no.md", "A/no.md", "A/B.md/C", "../README.md", "/README.md", "#two", "A/B.md#one-page", "A#one-page",
            "C.md#x",
        ])
    func dead(link: String) throws {
        #expect(
            try broken(["README.md": "# One page\nSee [`a`](\(link)).\n", "A/B.md": "", "C.md": ""])
                == ["README.md: \(link)"])
    }

    @Test("A link is relative to its page")
    func relative() throws {
        #expect(try broken(["A/B.md": "[a](C.md) [b](../D.md)", "A/C.md": "", "D.md": "[c](C.md)"]) == ["D.md: C.md"])
    }

    @Test("Headings with the same text get different anchors")
    func repeatedHeadings() {
        #expect(MarkdownPage("# a\n## A\n```\n# b\n```\n#c\n## a").anchors == ["a", "a-1", "a-2"])
    }

    @Test("A numbered list is parsed with its continuation lines")
    func steps() {
        let page = MarkdownPage("## Way\nWords.\n\n1. one\n   and a half\n2. [`two`](two)\n\n## Other\n1. three\n")
        #expect(page.steps(below: "## Way") == ["one and a half", "[`two`](two)"])
        #expect(page.steps(below: "## Other") == ["three"])
        #expect(page.steps(below: "## None") == nil)
    }
}
