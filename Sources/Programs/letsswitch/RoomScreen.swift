import FoundationEssentials
import LetsSwitchClient

/// Shows a ``RoomView`` in the terminal.
actor RoomScreen {
    private let output: Output
    /// The view of the current room, or `nil` when the user is in no room.
    private var view: RoomView?
    private var isFirst = true
    private var shown = ""
    private var ticking: Task<Void, Never>?

    init(_ output: Output) {
        self.output = output
    }

    /// Starts the view of a room. The room is the first one, or it follows another room.
    func begin(_ task: RoomTask?) {
        view = RoomView(task, isFirst: isFirst)
        isFirst = false
    }

    func receive(_ event: Room.Event) throws(OutputFailure) {
        try show(view?.receive(event))
        guard ticking == nil else { return }
        ticking = Task {
            while !Task.isCancelled, view?.countsDown(at: .now) == true {
                // Wakes at the next whole second, because starts are whole seconds.
                let now = Date.now.timeIntervalSince1970
                try? await Task.sleep(for: .seconds(now.rounded(.down) + 1 - now))
                try? show(nil)
            }
        }
    }

    /// Shows a line that doesn't come from an event.
    func showLine(_ line: String) {
        // If the output has failed, the next event ends the run.
        try? show(line)
    }

    /// Ends the view and clears the status line, so that neither the shell's prompt nor the next room's lines follow
    /// it.
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
