/// A part of a demonstration that did not go as planned.
public struct DemoFailure: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
