package import FoundationEssentials

/// A reminder that was given up.
package struct ExpiredReminder: Hashable, Sendable {
    package let id: UUID
    package let taskId: UUID
}
