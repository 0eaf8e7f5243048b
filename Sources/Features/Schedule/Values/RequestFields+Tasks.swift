import Domain

/// The fields that requests for tasks and for series share.
extension RequestFields {
    func title() throws -> String {
        try RequestText.checkShown(text("title"), "title", maximumScalars: RequestText.maximumTitleScalars)
    }

    func wallTime(_ member: String) throws -> WallTime {
        guard let time = WallTime(try text(member)) else {
            throw RequestError.invalid(member, "must be a time of day like 09:00 or 09:00:30")
        }
        return time
    }
}
