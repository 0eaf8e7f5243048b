/// The shape of a line: for a reader's eyes, or for a collector.
package enum LogFormat: String, Sendable {
    case text, json
}
