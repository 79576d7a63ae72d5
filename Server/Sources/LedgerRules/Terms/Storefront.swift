/// The App Store of a country in which a purchase was made.
public struct Storefront: Sendable, Hashable {
    /// `storefront` (ISO 3166-1 alpha-3).
    public var country: ExactText?
    /// `storefrontId`.
    public var number: ExactText?

    /// Creates a storefront from its claims.
    ///
    /// - Returns: `nil` if none of them is present.
    public init?(country: ExactText?, number: ExactText?) {
        guard country != nil || number != nil else { return nil }
        self.country = country
        self.number = number
    }
}
