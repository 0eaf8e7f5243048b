import Notifications

/// The file forms of settings that are secrets, or files with secrets.
extension Setting {
    /// This setting, which can also come from `--…-file`, from `LETSSWITCH_…_FILE` and from a credential.
    var allowedInFile: Setting { with(.value) }

    /// This setting, whose file can also be a credential.
    var mayBeCredential: Setting { with(.file) }

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

    private func with(_ secrecy: Secrecy) -> Setting {
        var setting = self
        setting.secrecy = secrecy
        return setting
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
