import Features
import FoundationEssentials
import Postgres
import Schema
import TestSupport
import Testing

/// The SQL of features has the layers of their targets: a feature uses lower ones, through what their READMEs list.
@Suite struct SQLLayerTests {
    /// A file of SQL, and the PostgreSQL schema of its folder.
    private struct SQLFile {
        let path: String
        let schema: String
        /// Without comments.
        let text: String

        /// The objects that the file creates, with their schemas.
        var created: [(kind: String, name: String)] {
            text.matches(of: #/CREATE (?:UNLOGGED )?(FUNCTION|TABLE|VIEW|TYPE|SEQUENCE) ([a-z]+\.[a-z_]+)/#)
                .map { (String($0.output.1), String($0.output.2)) }
        }

        /// The functions with their numbers of lines, from `CREATE FUNCTION` to the end of the body.
        var functions: [(name: String, lines: Int)] {
            text.matches(of: #/CREATE FUNCTION ([a-z]+\.[a-z_0-9]+)\((?s:.*?)\$\$;/#)
                .map { (String($0.output.1), $0.output.0.count { $0 == "\n" } + 1) }
        }
    }

    /// The PostgreSQL schemas, the lowest first.
    private static let order = DatabaseSchema.parts.map { $0.name }

    /// The folder of each schema.
    private static let folders = Dictionary(
        uniqueKeysWithValues: order.map { name in
            switch name {
            case "core": (name, "Sources/Core/Features")
            case "operations": (name, "Sources/Operations/Schema")
            default: (name, "Sources/Features/\(name.prefix(1).uppercased() + name.dropFirst())")
            }
        })

    private static func files(in tree: PageTree) throws -> [SQLFile] {
        try order.flatMap { schema in
            let folder = try #require(folders[schema]) + "/SQL/"
            guard tree.exists(folder) else { return [SQLFile]() }
            let names = try FileManager.default.contentsOfDirectory(atPath: "\(Checkout.root.path)/\(folder)")
            return names.filter { $0.hasSuffix(".sql") }.sorted().map { name in
                let text = tree.read(folder + name) ?? ""
                return SQLFile(path: folder + name, schema: schema, text: text.replacing(#/--[^\n]*/#, with: ""))
            }
        }
    }

    /// Returns the names with this schema that a section of the schema's README lists.
    private static func listed(_ heading: String, of schema: String, in tree: PageTree) throws -> Set<String> {
        let page = try tree.page(try #require(folders[schema]) + "/README.md")
        guard let start = page.lines.firstIndex(of: heading) else { return [] }
        let level = heading.prefix { $0 == "#" }
        let section = page.lines[(start + 1)...].prefix { line in
            let hashes = line.prefix { $0 == "#" }
            return hashes.isEmpty || hashes.count > level.count
        }
        return Set(
            section.joined(separator: "\n").matches(of: #/`([a-z]+\.[a-z_]+)`/#).map { String($0.output.1) }
                .filter { $0.hasPrefix(schema + ".") })
    }

    private static func problems(of files: [SQLFile], in tree: PageTree) throws -> [String] {
        var problems: [String] = []
        let created = Dictionary(
            files.flatMap { file in file.created.map { ($0.name, $0.kind) } }, uniquingKeysWith: { first, _ in first })
        var hooks: Set<String> = []
        var interface: Set<String> = []
        for schema in order {
            hooks.formUnion(try listed("### SQL hooks", of: schema, in: tree))
            let heading = schema == "core" ? "## SQL for all features" : "## SQL for other features"
            interface.formUnion(try listed(heading, of: schema, in: tree))
        }
        for name in interface.union(hooks) where created[name] == nil && !name.hasPrefix("core.") {
            problems.append("\(name) is in a README and doesn't exist")
        }
        for file in files {
            let level = try #require(order.firstIndex(of: file.schema))
            let own = Set(file.created.map(\.name))
            for (_, name) in file.created where !name.hasPrefix(file.schema + ".") && !hooks.contains(name) {
                problems.append("\(file.path) creates \(name), which is no hook")
            }
            for match in file.text.matches(of: #/\b([a-z]+)\.([a-z_]+)\b/#) {
                let (schema, name) = (String(match.output.1), "\(match.output.1).\(match.output.2)")
                guard let other = order.firstIndex(of: schema), other != level, created[name] != nil else { continue }
                if hooks.contains(name) || own.contains(name) { continue }
                if other > level {
                    problems.append("\(file.path) uses \(name), which is above it")
                } else if !interface.contains(name) {
                    problems.append("\(file.path) uses \(name), which no README lists")
                } else if schema != "core", !["FUNCTION", "VIEW"].contains(created[name]) {
                    problems.append("\(file.path) uses \(name), which is neither a function nor a view")
                }
            }
        }
        return problems
    }

    @Test("The SQL of a feature uses only what lower features offer") func layers() throws {
        let tree = try PageTree.repository()
        let files = try Self.files(in: tree)
        #expect(files.count > 40)
        #expect(try Self.problems(of: files, in: tree) == [])
    }

    @Test(
        "SQL that uses a higher schema, or what no README lists, is found",
        arguments: [
            ("schedule", "SELECT FROM conversations.message", "above"),
            ("core", "PERFORM schedule.tasks_of('a')", "above"),
            ("conversations", "SELECT FROM schedule.task", "no README"),
            ("matches", "SELECT core.erase_device('a')", "no README"),
            ("reminders", "CREATE FUNCTION schedule.extra() RETURNS void", "no hook"),
        ])
    func violations(schema: String, sql: String, problem: String) throws {
        let tree = try PageTree.repository()
        let wrong = SQLFile(path: "wrong.sql", schema: schema, text: sql)
        let found = try Self.problems(of: try Self.files(in: tree) + [wrong], in: tree)
        #expect(found.count == 1 && found.allSatisfy { $0.hasPrefix("wrong.sql") && $0.contains(problem) }, "\(found)")
    }

    @Test("No SQL function has more than 60 lines") func length() throws {
        let functions = try Self.files(in: try PageTree.repository()).flatMap(\.functions)
        #expect(functions.count > 300)
        #expect(functions.filter { $0.lines > 60 }.map { "\($0.name): \($0.lines) lines" } == [])
    }

    @Test("A function's lines are counted to the end of its body") func lines() {
        let sql = """
            CREATE FUNCTION core.one() RETURNS integer LANGUAGE sql AS $$ SELECT 1 $$;
            CREATE FUNCTION core.long() RETURNS void
            LANGUAGE plpgsql AS $$
            BEGIN
            \(String(repeating: "PERFORM core.one();\n", count: 60))
            END
            $$;
            """
        let functions = SQLFile(path: "long.sql", schema: "core", text: sql).functions
        #expect(functions.map(\.name) == ["core.one", "core.long"])
        #expect(functions.map(\.lines) == [1, 66])
    }

    @Test("Each SQL file of a folder is in the schema that the program installs") func scripts() throws {
        let tree = try PageTree.repository()
        let installed = DatabaseSchema.parts.map { $0.tables + $0.functions.map(\.sql).joined() }.joined()
        for file in try Self.files(in: tree) {
            #expect(installed.contains(try #require(tree.read(file.path))), "\(file.path)")
        }
    }
}
