import Foundation

/// An external purchase token, and what Apple was told about it.
public struct ExternalPurchaseMessage: Codable, Sendable, Equatable {
    /// Apple's id of the token (Apple, "externalPurchaseId").
    public var externalPurchaseID: String
    /// `Sandbox` if the id begins with `SANDBOX`, otherwise `Production`.
    public var environment: EnvironmentName
    /// `ACQUISITION` or `SERVICES`, `IN_APP` or `LINK_OUT` (StoreKit, `token(for:)`); only of tokens for custom links.
    public var tokenType: String?
    public var createdAt: String?
    /// Only of tokens for custom links.
    public var expiresAt: String?
    /// Whether your backend stated it. Otherwise only a notification named it.
    public var stated: Bool
    /// `open`: nothing is to be reported yet; `due`: Apple is told at `due_at`; `reported`: Apple accepted everything
    /// that is known; `refused`: Apple refused the last report, and a corrected statement is needed.
    public var state: String
    public var dueAt: String?
    /// What Apple accepted last (Apple, "status").
    public var status: String?
    public var reportedAt: String?
    /// The last report (Apple, "requestIdentifier").
    public var requestID: String?
    /// What Apple said against the last report.
    public var refusal: String?
    /// All in the answer about one token; the stated ones in the answer to a statement.
    public var lineItems: [LineItem]?

    /// A line item of a token.
    public struct LineItem: Codable, Sendable, Equatable {
        public var lineItemID: String
        /// Whether Apple has it as it was stated last.
        public var reported: Bool

        public init(lineItemID: String, reported: Bool) { (self.lineItemID, self.reported) = (lineItemID, reported) }

        enum CodingKeys: String, CodingKey {
            case reported
            case lineItemID = "line_item_id"
        }
    }

    public init(externalPurchaseID: String, environment: EnvironmentName, stated: Bool, state: String) {
        (self.externalPurchaseID, self.environment) = (externalPurchaseID, environment)
        (self.stated, self.state) = (stated, state)
    }

    enum CodingKeys: String, CodingKey {
        case environment, stated, state, status, refusal
        case externalPurchaseID = "external_purchase_id"
        case tokenType = "token_type"
        case createdAt = "created_at"
        case expiresAt = "expires_at"
        case dueAt = "due_at"
        case reportedAt = "reported_at"
        case requestID = "request_id"
        case lineItems = "line_items"
    }
}

/// `GET /v1/external-purchases`
public struct ExternalPurchasePage: Codable, Sendable, Equatable {
    public var externalPurchases: [ExternalPurchaseMessage]
    /// The cursor of the next page; absent on the last page.
    public var nextCursor: String?

    public init(externalPurchases: [ExternalPurchaseMessage], nextCursor: String? = nil) {
        (self.externalPurchases, self.nextCursor) = (externalPurchases, nextCursor)
    }

    enum CodingKeys: String, CodingKey {
        case externalPurchases = "external_purchases"
        case nextCursor = "next_cursor"
    }
}

/// `POST /v1/external-purchases`: a token that your app or your website received.
public struct ExternalPurchaseRequest: Sendable, Equatable {
    /// The token as StoreKit gave it: JSON in base64url (Apple, "Receiving and decoding external purchase tokens").
    public var token: Token
    /// Whether another token of the same customer and time has the line items; only for custom links.
    public var isDuplicate: Bool

    /// The members of a token. Nothing of it is signed.
    public struct Token: Codable, Sendable, Equatable {
        public var externalPurchaseId: String
        public var bundleId: String
        /// In milliseconds since 1970.
        public var tokenCreationDate: Int64?
        public var tokenType: String?
        /// In milliseconds since 1970.
        public var tokenExpirationDate: Int64?

        /// The end of the year 2200: nothing signs these dates.
        fileprivate static let latestDate: Int64 = 7_289_654_400_000
    }

    enum CodingKeys: String, CodingKey {
        case token, duplicate
    }
}

extension ExternalPurchaseRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        token = Token(externalPurchaseId: "", bundleId: "")
        isDuplicate = members.flag(CodingKeys.duplicate) ?? false
        guard let text = members.text(CodingKeys.token) else {
            members.miss(CodingKeys.token.rawValue)
            return
        }
        // At most a few hundred bytes; longer ones are no token.
        guard text.utf8.count <= 4_096, let json = Data(base64URL: text),
            let read = try? JSONDecoder().decode(Token.self, from: json),
            (1...ExternalLineItem.longestText).contains(read.externalPurchaseId.utf8.count),
            [read.externalPurchaseId, read.tokenType ?? "-"].allSatisfy({ text in
                !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 <= 0x7E }
            }),
            (read.tokenType?.utf8.count ?? 0) <= ExternalLineItem.longestText,
            [read.tokenCreationDate ?? 0, read.tokenExpirationDate ?? 0].allSatisfy({
                (0...Token.latestDate).contains($0)
            })
        else {
            members.refuse(CodingKeys.token, "an external purchase token of StoreKit, in base64url")
            return
        }
        token = read
        // Apple, "DuplicateTokenStatusNotAllowedError".
        if isDuplicate, !["ACQUISITION", "SERVICES"].contains(read.tokenType) {
            members.refuse(CodingKeys.duplicate, "false unless tokenType is ACQUISITION or SERVICES")
        }
    }
}

/// `POST /v1/external-purchases/{id}/line-items`
public struct ExternalLineItemsRequest: Sendable, Equatable {
    public var lineItems: [ExternalLineItem]

    enum CodingKeys: String, CodingKey {
        case lineItems = "line_items"
    }
}

extension ExternalLineItemsRequest: RequestMessage {
    public init(members: inout RequestMembers) {
        lineItems = members.objects(CodingKeys.lineItems, limit: ExternalLineItem.mostInRequest) {
            object throws(RequestMembers.Flaw) in
            do throws(ExternalLineItem.Flaw) {
                return try ExternalLineItem(object)
            } catch {
                throw .malformed(error.member, expected: error.expected)
            }
        }
    }
}

extension Data {
    fileprivate init?(base64URL text: String) {
        let plain = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
    }
}
