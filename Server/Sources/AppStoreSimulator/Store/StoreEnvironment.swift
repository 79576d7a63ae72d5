/// The environment in which a customer buys.
public enum StoreEnvironment: String, Codable, Hashable, Sendable, CaseIterable {
    /// Customers who pay.
    case production
    /// Testers, who pay nothing.
    case sandbox

    /// Reads one of the words above.
    public init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }
}
