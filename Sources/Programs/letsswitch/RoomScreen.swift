import FoundationEssentials
import LetsSwitchClient

/// The terminal of somebody who is in a room: the driver of a ``RoomView``.
actor RoomScreen {
    private let output: Output
    /// While one is in a room.
    private var view: RoomView?
    private var isFirst = true
    private var shown = ""
    private var ticking: Task<Void, Never>?

    init(_ output: Output) {
        self.output = output
    }

    /// What comes now is of another room, or of the first.
    func begin(_ task: RoomTask?) {
        view = RoomView(task, isFirst: isFirst)
        isFirst = false
    }

    func heard(_ event: Room.Event) throws(OutputFailure) {
        try show(view?.heard(event))
        guard ticking == nil else { return }
        ticking = Task {
            while !Task.isCancelled, view?.countsDown(at: .now) == true {
                // At the wall clock's next second: starts are whole ones.
                let now = Date.now.timeIntervalSince1970
                try? await Task.sleep(for: .seconds(now.rounded(.down) + 1 - now))
                try? show(nil)
            }
        }
    }

    /// A line that no event brought.
    func tell(_ line: String) {
        // Who can't be told any more ends by the next event.
        try? show(line)
    }

    /// The line below goes: what the shell says next, or what comes of another room, is not to stand behind it.
    func end() {
        ticking?.cancel()
        (view, ticking, shown) = (nil, nil, "")
        try? output.rewrite(nil, below: "")
    }

    private func show(_ line: String?) throws(OutputFailure) {
        guard !Task.isCancelled, let status = view?.status(at: .now) else { return }
        guard line != nil || status != shown else { return }
        shown = status
        try output.rewrite(line, below: status)
    }
}
