/// The store of a country, in which something was bought.
public struct Storefront: Sendable, Hashable {
    /// `storefront` (ISO 3166-1 alpha-3).
    public var country: ExactText?
    /// `storefrontId`.
    public var number: ExactText?

    /// A storefront by its claims.
    ///
    /// - Returns: `nil` if none of them is present.
    public init?(country: ExactText?, number: ExactText?) {
        guard country != nil || number != nil else { return nil }
        self.country = country
        self.number = number
    }
}
