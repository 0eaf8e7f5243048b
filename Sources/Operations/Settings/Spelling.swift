/// Finds the word that was probably meant by a mistyped word.
enum Spelling {
    /// Returns the candidate with the fewest edits, if the edits are few for the word's length.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let scored = candidates.map { (candidate: $0, edits: edits(Array(word.utf8), Array($0.utf8))) }
        guard let best = scored.min(by: { $0.edits < $1.edits }) else { return nil }
        return best.edits <= max(1, min(3, best.candidate.utf8.count / 3)) ? best.candidate : nil
    }

    /// Returns the Levenshtein distance. O(n·m). A word longer than every flag is never close to one.
    private static func edits(_ a: [UInt8], _ b: [UInt8]) -> Int {
        guard a.count <= 64 else { return a.count }
        var row = Array(0...b.count)
        for i in a.indices {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let substituted = diagonal + (a[i] == b[j] ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, row[j] + 1, diagonal + 1)
            }
        }
        return row[b.count]
    }
}
