/// A value with its parameters.
public struct StructuredItem: Sendable, Equatable {
    public var value: StructuredValue
    public var parameters: [StructuredParameter]

    /// An item.
    public init(_ value: StructuredValue, parameters: [StructuredParameter] = []) {
        self.value = value
        self.parameters = parameters
    }

    var text: String { value.text + StructuredParameter.text(parameters) }
}
