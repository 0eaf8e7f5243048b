// Conditional requests (RFC 9110 §13).
extension HTTPHeaders {
    /// Whether `If-None-Match` names this entity tag, or any: then a GET or HEAD is answered with `304`. Tags are compared weakly
    /// (§8.8.3.2).
    ///
    /// - Parameter tag: With its quotes, without `W/`, and without a comma in it.
    package func names(entityTag tag: String) -> Bool {
        values("If-None-Match").contains { list in
            list.split(separator: ",").contains { element in
                let element = element.drop { $0 == " " || $0 == "\t" }
                let named = element.hasPrefix("W/") ? element.dropFirst(2) : element
                return named.prefix { $0 != " " && $0 != "\t" } == tag || named.prefix { $0 != " " } == "*"
            }
        }
    }
}
