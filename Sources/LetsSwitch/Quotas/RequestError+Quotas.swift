extension RequestError {
    static func tooManyTasks(_ most: Int) -> RequestError {
        RequestError(
            status: 429, code: "too_many_tasks",
            reason: "This device has \(most) tasks that haven't started: as many as it may.",
            place: .tasksPerDevice)
    }

    /// The server keeps no more of these, whoever asks; until some are over, or its operator raises the limit.
    static func storageFull(_ table: StoredTable) -> RequestError {
        RequestError(
            status: 503, code: "storage_full", reason: "This server keeps as many \(table.rawValue) as it may.",
            retryAfter: 3600, place: table.limit)
    }
}
