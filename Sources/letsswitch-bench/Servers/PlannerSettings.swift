import Glibc

/// The daemon's sessions reach tables by index alone (`DatabaseSchema.sessionSettings`); what is compared with it does too.
enum PlannerSettings {
    /// As `PostgresConfiguration.sessionSettings` takes them.
    static let settings = [
        "enable_seqscan": "off", "enable_bitmapscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
        "max_parallel_workers_per_gather": "0", "jit": "off",
    ]

    /// For the sessions of the programs that this process starts from now on.
    static func export() {
        setenv("PGOPTIONS", settings.map { "-c \($0.key)=\($0.value)" }.joined(separator: " "), 1)
    }
}
