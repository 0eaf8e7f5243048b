/// Makes of a channel's messages what a program speaks of.
///
/// ```swift
/// struct Chats: OutputMapping {
///     func map(_ message: CableMessage) throws -> Chat? {
///         message.type == "new_chat" ? try message.data() : nil
///     }
/// }
/// ```
public protocol OutputMapping: Sendable {
    /// What the program speaks of: `typealias Output = Chat`
    associatedtype Output: Sendable
    /// `nil` for a message that is of no interest: `guard message.type == "new_chat" else { return nil }`
    func map(_ message: CableMessage) throws -> Output?
}

/// Makes actions of that, by the state as it is.
///
/// ```swift
/// struct ChatActions: ActionMapping {
///     func actions(for chat: Chat, in state: AppState) -> [AppAction] {
///         state.chats.contains(chat) ? [] : [.add(chat)]
///     }
/// }
/// ```
public protocol ActionMapping: Sendable {
    /// What it is made of: `typealias Output = Chat`
    associatedtype Output: Sendable
    /// The store's: `typealias State = AppState`
    associatedtype State: Sendable
    /// The store's: `typealias Action = AppAction`
    associatedtype Action: Sendable
    /// No action where nothing changes: `state.chats.contains(chat) ? [] : [.add(chat)]`
    func actions(for output: Output, in state: State) -> [Action]
}
