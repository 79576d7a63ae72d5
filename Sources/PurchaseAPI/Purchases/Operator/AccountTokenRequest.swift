/// `PUT /v1/customers/{id}/app_account_token`: gives the customer an account token.
public struct AccountTokenRequest: Codable, Sendable, Equatable {
    /// The UUID that the app passes to StoreKit 2 (`appAccountToken`). It never belongs to another customer.
    public var appAccountToken: String

    /// A token.
    public init(appAccountToken: String) {
        self.appAccountToken = appAccountToken
    }

    enum CodingKeys: String, CodingKey {
        case appAccountToken = "app_account_token"
    }
}

extension AccountTokenRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        appAccountToken = members.identifier(CodingKeys.appAccountToken)
    }
}
