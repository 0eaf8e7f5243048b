// Conditional requests (RFC 9110 §13).
extension HTTPHeaders {
    /// Whether `If-None-Match` contains this entity tag or `*`. If so, a GET or HEAD is answered with `304`. Tags are
    /// compared weakly (§8.8.3.2).
    ///
    /// - Parameter tag: The tag with its quotes and without `W/`. The tag must not contain a comma.
    package func names(entityTag tag: String) -> Bool {
        var tag = tag
        return tag.withUTF8 { tag in
            var isNamed = false
            forEachListElement(of: "If-None-Match") { element in
                let isWeak = element.starts(with: "W/".utf8)
                let named = isWeak ? element.part(2..<element.count) : element
                isNamed = named.equals(UnsafeRawBufferPointer(tag)) || named.elementsEqual("*".utf8)
                return !isNamed
            }
            return isNamed
        }
    }
}
