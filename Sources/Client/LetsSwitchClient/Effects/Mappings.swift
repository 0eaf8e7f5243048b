/// Converts a channel's messages into a program's own values.
///
/// ```swift
/// struct Chats: OutputMapping {
///     func map(_ message: CableMessage) throws -> Chat? {
///         message.type == "new_chat" ? try message.data() : nil
///     }
/// }
/// ```
public protocol OutputMapping: Sendable {
    /// The program's value: `typealias Output = Chat`
    associatedtype Output: Sendable
    /// Returns a message's value, or `nil` to ignore the message: `guard message.type == "new_chat" else { return nil
    /// }`
    func map(_ message: CableMessage) throws -> Output?
}

/// Converts a value into actions, depending on the state.
///
/// ```swift
/// struct ChatActions: ActionMapping {
///     func actions(for chat: Chat, in state: AppState) -> [AppAction] {
///         state.chats.contains(chat) ? [] : [.add(chat)]
///     }
/// }
/// ```
public protocol ActionMapping: Sendable {
    /// The value of the output mapping: `typealias Output = Chat`
    associatedtype Output: Sendable
    /// The store's state: `typealias State = AppState`
    associatedtype State: Sendable
    /// The store's action: `typealias Action = AppAction`
    associatedtype Action: Sendable
    /// Returns the actions for a value, or none if nothing changes: `state.chats.contains(chat) ? [] : [.add(chat)]`
    func actions(for output: Output, in state: State) -> [Action]
}
