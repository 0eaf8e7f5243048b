/// A statement that a connection prepares the first time it runs it, and then runs by name.
package struct PostgresStatement: Sendable, Hashable {
    /// Unique among the statements of a program: PostgreSQL knows the prepared statement by it. Observers and errors
    /// bear it. Empty for a statement that is parsed anew each time.
    package let name: String
    /// One statement, its parameters written `$1`, `$2`, …
    package let sql: String

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}

/// A value for `$1`, `$2`, … of a statement, sent as text; PostgreSQL infers the type from the statement.
package enum PostgresParameter: Sendable, Hashable {
    case null
    /// Refused with `.invalidParameter` when it contains U+0000, which PostgreSQL can't store.
    case text(String)
    case integer(Int)
    case double(Double)
    case boolean(Bool)
    /// `text[]`; `nil` is an element that is NULL.
    case textArray([String?])
}

extension PostgresParameter {
    /// The text form that PostgreSQL's input functions read; nil for NULL.
    var literal: String? {
        switch self {
        case .null: nil
        case .text(let text): text
        case .integer(let integer): String(integer)
        case .double(let double): Self.literal(of: double)
        case .boolean(let boolean): boolean ? "t" : "f"
        case .textArray(let elements): Self.literal(of: elements)
        }
    }

    private static func literal(of double: Double) -> String {
        if double.isNaN { return "NaN" }
        if double.isInfinite { return double < 0 ? "-Infinity" : "Infinity" }
        return double.description
    }

    /// PostgreSQL 15 manual, 8.15.2: every element in quotes, so that an element that reads `NULL` or is empty stays
    /// what it is; quotes and backslashes escaped.
    private static func literal(of elements: [String?]) -> String {
        var literal = "{"
        for (index, element) in elements.enumerated() {
            if index > 0 { literal.append(",") }
            guard let element else {
                literal.append("NULL")
                continue
            }
            literal.append("\"")
            for scalar in element.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { literal.append("\\") }
                literal.unicodeScalars.append(scalar)
            }
            literal.append("\"")
        }
        literal.append("}")
        return literal
    }
}
