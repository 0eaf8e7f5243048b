import Features
import Notifications

/// The settings that name a file with the value of another setting, which is a secret.
extension Setting<Configuration> {
    /// This setting, and the setting that names a file with its value, if there is one.
    var withFileForm: [Setting] {
        guard secrecy == .value else { return [self] }
        let file = Setting(
            name: "\(name)-file", section: section, kind: .value(placeholder: "FILE"),
            help: "a file that contains the value", defaultText: "none", standsFor: name
        ) { configuration, values throws(InvalidValue) in
            for path in values { try apply(&configuration, self.values(ofVariable: Self.secret(inFile: path))) }
        }
        return [self, file]
    }

    /// Returns the content of a file, without white space at both ends.
    private static func secret(inFile path: String) throws(InvalidValue) -> String {
        do {
            return try SecretFile.read(path)
        } catch {
            throw InvalidValue(path, "\(error)")
        }
    }
}
