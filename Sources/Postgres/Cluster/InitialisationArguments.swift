/// What `initdb` is told.
enum InitialisationArguments {
    /// The superuser and owner of everything; the socket's directory is what keeps others out.
    static let superuser = "letsswitch"
    static let fixed = [
        "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--username=\(superuser)",
    ]
}
