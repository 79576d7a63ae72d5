/// What other shops gave to a customer, the newest first.
public struct GroundList: Codable, Sendable, Equatable {
    public var grounds: [GroundMessage]
    /// The customer into whom the one of the request was merged; absent if they were not.
    public var mergedInto: String?

    /// A list.
    public init(grounds: [GroundMessage], mergedInto: String? = nil) {
        self.grounds = grounds
        self.mergedInto = mergedInto
    }

    enum CodingKeys: String, CodingKey {
        case grounds
        case mergedInto = "merged_into"
    }
}
