// Groups and seats of multiseat purchases. Only the sandbox has them today.

public import Foundation

/// The groups of a member (Apple, "Get Current Groups").
public struct GetCurrentGroups: AppStoreServerOperation {
    /// Apple states no limit; this is the smallest of the others.
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .only(.sandbox) }

    /// A transaction id, an original transaction id or an app transaction id.
    public var id: String

    public init(_ id: String) { self.id = id }

    public var request: AppStoreServerRequest { AppStoreServerRequest(.get, ["groups", "v1", "currentGroups", id]) }

    private struct Reply: Decodable {
        let groups: [MemberGroup]?
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> [MemberGroup] {
        try reply.decoded(Reply.self).groups ?? []
    }
}

/// A group of which somebody is a member. Apple does not sign it.
public struct MemberGroup: Sendable, Decodable {
    public let groupId: String
    /// `ORGANIZATION` or `CONSUMER`.
    public let groupType: String?
    /// Only of organizations.
    public let roles: [Role]?

    /// The role of a member for a product.
    public struct Role: Sendable, Decodable {
        public let productId: String?
        /// `NONE` or `ADMIN`.
        public let role: String?
    }
}

/// One page of the members of a group (Apple, "Get Group").
public struct GetGroupMembers: AppStoreServerOperation {
    /// Apple states no limit; this is the smallest of the others.
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .only(.sandbox) }

    public var groupID: String
    public var paginationToken: String?
    /// At most 100.
    public var limit: Int?

    public init(_ groupID: String, paginationToken: String? = nil, limit: Int? = nil) {
        self.groupID = groupID
        self.paginationToken = paginationToken
        self.limit = limit
    }

    public var request: AppStoreServerRequest {
        var request = AppStoreServerRequest(.get, ["groups", "v1", "group", groupID])
        if let paginationToken { request.query.append(("paginationToken", paginationToken)) }
        if let limit { request.query.append(("limit", "\(limit)")) }
        return request
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> GroupMembers {
        try reply.decoded(GroupMembers.self)
    }
}

/// A page of members. Apple does not sign it.
public struct GroupMembers: Sendable, Decodable {
    public let members: [Member]
    public let hasMore: Bool?
    public let paginationToken: String?

    public struct Member: Sendable, Decodable {
        public let appTransactionId: String
    }
}

/// The seats of a multiseat purchase (Apple, "Get Seats").
public struct GetSeats: AppStoreServerOperation {
    /// Apple states no limit; this is the smallest of the others.
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .only(.sandbox) }

    public var transactionID: String

    public init(_ transactionID: String) { self.transactionID = transactionID }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.get, ["groups", "v1", "transactions", transactionID, "seats"])
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> AppStoreSeats {
        try reply.decoded(AppStoreSeats.self)
    }
}

/// The seats of a purchase, as Apple counts them. Apple does not sign it.
public struct AppStoreSeats: Sendable, Decodable {
    public let totalSeatCount: Int64?
    public let availableSeatCount: Int64?
    public let assignedSeatClaimIds: [String]?
}

/// Claims a seat (Apple, "Claim Seat"). The same request identifier again claims none.
public struct ClaimAppStoreSeat: AppStoreServerOperation {
    /// Apple states no limit; this is the smallest of the others.
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .only(.sandbox) }

    public var transactionID: String
    /// The member; `nil` if their app transaction is not known yet (`AssociateAppStoreSeat`).
    public var appTransactionID: String?
    public var requestIdentifier: UUID

    public init(of transactionID: String, for appTransactionID: String?, requestIdentifier: UUID) {
        self.transactionID = transactionID
        self.appTransactionID = appTransactionID
        self.requestIdentifier = requestIdentifier
    }

    private struct Reply: Decodable {
        let seatClaimId: String
    }

    public var request: AppStoreServerRequest {
        var body = ["requestIdentifier": requestIdentifier.lowercased]
        body["appTransactionId"] = appTransactionID
        return AppStoreServerRequest(.post, ["groups", "v1", "transactions", transactionID, "seats"], json: body)
    }

    /// - Returns: the seat claim id.
    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> String {
        try reply.decoded(Reply.self).seatClaimId
    }
}

/// Says which member has a seat that was claimed before (Apple, "Associate Seat").
public struct AssociateAppStoreSeat: AppStoreServerOperation {
    public typealias Answer = Void

    /// Apple states no limit; this is the smallest of the others.
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .only(.sandbox) }

    public var transactionID: String
    public var seatClaimID: String
    public var appTransactionID: String

    public init(_ seatClaimID: String, of transactionID: String, with appTransactionID: String) {
        self.seatClaimID = seatClaimID
        self.transactionID = transactionID
        self.appTransactionID = appTransactionID
    }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(
            .post, ["groups", "v1", "transactions", transactionID, "seats", seatClaimID, "associate"],
            json: ["appTransactionId": appTransactionID])
    }
}

/// Gives a seat back (Apple, "Unclaim Seat").
public struct UnclaimAppStoreSeat: AppStoreServerOperation {
    public typealias Answer = Void

    /// Apple states no limit; this is the smallest of the others.
    public static var callsPerSecond: Double { 1 }
    public static var place: AppStoreServerPlace { .only(.sandbox) }

    public var transactionID: String
    public var seatClaimID: String

    public init(_ seatClaimID: String, of transactionID: String) {
        self.seatClaimID = seatClaimID
        self.transactionID = transactionID
    }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.delete, ["groups", "v1", "transactions", transactionID, "seats", seatClaimID])
    }
}
