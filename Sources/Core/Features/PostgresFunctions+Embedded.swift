package import CEmbedded
package import Postgres

extension PostgresFunctions.Script {
    /// A file of a feature's folder `SQL`, embedded in the program.
    ///
    /// - Parameter name: The file's name without `.sql`.
    package init(_ name: String, _ file: EmbeddedFile) {
        self.init(name: name, sql: String(cString: file.bytes))
    }
}
