/// The simulated store refused a request, or did not understand it.
public struct SimulatedStoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The HTTP status; 0 if the address is wrong.
    public let status: Int
    /// The store's problem document.
    public let text: String

    public var description: String { "\(status): \(text)" }
}
