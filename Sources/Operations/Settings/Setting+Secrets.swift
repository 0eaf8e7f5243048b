import Delivery

/// The forms of a setting that is a secret, or a file that holds one.
extension Setting {
    /// The same, by `--…-file` and `LETSSWITCH_…_FILE` too, and from a credential.
    var mayStandInFile: Setting { with(.value) }

    /// The same, a credential's file too.
    var mayBeCredential: Setting { with(.file) }

    /// The setting, and the one that names the file in which its value stands, if there is such a one.
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

    private func with(_ secrecy: Secrecy) -> Setting {
        var setting = self
        setting.secrecy = secrecy
        return setting
    }

    /// What stands in a file, without the blanks and line breaks around it.
    private static func secret(inFile path: String) throws(InvalidValue) -> String {
        do {
            return try SecretFile.read(path)
        } catch {
            throw InvalidValue(path, "\(error)")
        }
    }
}
