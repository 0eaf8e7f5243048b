import Glibc

/// Formats numbers, and aligns text in columns.
enum Column {
    /// Formats a number with `decimals` decimals. The default is two decimals for small numbers and none for large
    /// ones.
    static func number(_ value: Double, decimals: Int? = nil) -> String {
        let decimals = decimals ?? (value >= 1_000 ? 0 : value >= 20 ? (value == value.rounded() ? 0 : 1) : 2)
        guard value.isFinite, abs(value) < 1e15 else { return "–" }
        let scale = pow(10.0, Double(decimals))
        let scaled = Int((abs(value) * scale).rounded())
        let whole = grouped(scaled / Int(scale))
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard decimals > 0 else { return sign + whole }
        let fraction = String(scaled % Int(scale))
        return sign + whole + "." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }

    /// Formats 1234567 as 1,234,567.
    static func grouped(_ value: Int) -> String {
        var text = ""
        for (index, digit) in String(value).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }

    /// Aligns lines in columns. Each column is as wide as its widest entry. The first column is aligned to the left,
    /// and the others to the right.
    static func align(_ lines: [[String]]) -> String {
        let count = lines.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in lines.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return lines.map { line in
            line.enumerated().map { column, text in
                let blanks = String(repeating: " ", count: widths[column] - text.count)
                return column == 0 || column == count - 1 ? text + blanks : blanks + text
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
