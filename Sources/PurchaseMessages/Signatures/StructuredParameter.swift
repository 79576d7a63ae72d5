/// A parameter of an item or an inner list.
public struct StructuredParameter: Sendable, Equatable {
    public var name: String
    public var value: StructuredValue

    /// A parameter; without a value it is `true`.
    public init(_ name: String, _ value: StructuredValue = .boolean(true)) {
        self.name = name
        self.value = value
    }

    static func text(_ parameters: [StructuredParameter]) -> String {
        parameters.map { $0.value == .boolean(true) ? ";\($0.name)" : ";\($0.name)=\($0.value.text)" }.joined()
    }
}

extension [StructuredParameter] {
    /// The value of a parameter; `nil` if there is none.
    public func value(_ name: String) -> StructuredValue? { first { $0.name == name }?.value }
}
