import EvidenceMint
import Foundation

extension ServiceState {
    /// The placeholder of the sandbox, as the first group's number.
    private static let firstGroup: UInt64 = 900_000_000_000_000_000

    /// The answers to the group and seat calls, which only the sandbox has.
    mutating func seatAnswer(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        switch request.operation {
        case .groups: return try groups(request, scope)
        case .groupMembers: return try groupMembers(request, scope)
        default: break
        }
        let transaction = try transaction(request.path[0], scope)
        let original = transaction.originalTransactionID
        // A transaction without such seats has no seats to give away.
        guard let subscription = store.state.subscriptions[original], subscription.sharedFrom == nil,
            transaction.seats?.invitations == .developer
        else { throw ServerAPIFailure.unknownTransactionID }
        let total = subscription.isUsable ? store.seats(of: subscription) : 0
        let claims = settings.serverAPI.seatClaims[original] ?? []
        switch request.operation {
        case .claimSeat:
            let body = try request.object()
            guard let identifier = try body.string("requestIdentifier", or: .generalBadRequest),
                (1...128).contains(identifier.utf8.count)
            else { throw ServerAPIFailure.generalBadRequest }
            let member = try member(in: body, scope)
            if let earlier = claims.first(where: { $0.requestIdentifier == identifier }) {
                return ServerAPIAnswer(["seatClaimId": .string(earlier.seatClaimID)])
            }
            guard claims.count < total else {
                // Apple names the error without a number.
                throw ServerAPIFailure(400, nil, "NoAvailableSeats")
            }
            let id = UUID(derivedFrom: "seat|\(original)|\(identifier)").uuidString.lowercased()
            settings.serverAPI.seatClaims[original] =
                claims + [SeatClaim(seatClaimID: id, requestIdentifier: identifier, appTransactionID: member)]
            return ServerAPIAnswer(["seatClaimId": .string(id)])
        case .releaseSeat:
            let id = request.path[1].lowercased()
            guard claims.contains(where: { $0.seatClaimID == id }) else { throw Self.unknownSeatClaim }
            settings.serverAPI.seatClaims[original] = claims.filter { $0.seatClaimID != id }
            return ServerAPIAnswer(status: 200)
        case .associateSeat:
            let id = request.path[1].lowercased()
            guard let index = claims.firstIndex(where: { $0.seatClaimID == id }) else { throw Self.unknownSeatClaim }
            guard let member = try member(in: try request.object(), scope) else {
                throw ServerAPIFailure.generalBadRequest
            }
            settings.serverAPI.seatClaims[original]?[index].appTransactionID = member
            return ServerAPIAnswer(status: 200)
        default:
            return ServerAPIAnswer([
                "totalSeatCount": .integer(Int64(total)),
                "availableSeatCount": .integer(Int64(max(0, total - claims.count))),
                "assignedSeatClaimIds": .array(claims.map { .string($0.seatClaimID) }),
            ])
        }
    }

    /// Apple names the error (SeatClaimIdNotFoundError) without a number.
    private static let unknownSeatClaim = ServerAPIFailure(404, nil, "There is no such seat claim.")

    /// The customer of the app whom a request names; nil if it names none.
    /// - Throws: 4000000; 404 without a number (Apple, "AppTransactionIdNotFoundError").
    private func member(in body: APIObject, _ scope: ServerAPIScope) throws -> String? {
        guard let member = try body.string("appTransactionId", or: .generalBadRequest) else { return nil }
        guard Self.isNumber(member) else { throw ServerAPIFailure.generalBadRequest }
        guard appReceipt(member, scope) != nil else {
            throw ServerAPIFailure(404, nil, "The app has no such app transaction in this environment.")
        }
        return member
    }

    /// The answer to `GET /groups/v1/currentGroups/{any}`: one group for each purchase of seats that a customer made or
    /// has a seat of.
    private func groups(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let owner = try owner(request.path[0], scope)
        let groups = store.state.subscriptions.rows(ofGroup: owner).compactMap { subscription -> ClaimValue? in
            let source = subscription.sharedFrom.flatMap { store.state.subscriptions[$0] } ?? subscription
            guard source.renewalSeats != nil, subscription.isUsable else { return nil }
            return .object(["groupId": .string(Self.groupID(of: source)), "groupType": .string("CONSUMER")])
        }
        return ServerAPIAnswer(["groups": .array(groups)])
    }

    /// The answer to `GET /groups/v1/group/{groupId}`.
    private func groupMembers(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        guard Self.isNumber(request.path[0]) else {
            throw ServerAPIFailure(4_000_225, "The group identifier has a wrong form.")
        }
        guard let limit = Int(request.value("limit") ?? "20"), (1...100).contains(limit) else {
            throw ServerAPIFailure(4_000_004, "The limit is 1 to 100.")
        }
        let purchaser = store.state.subscriptions.sorted {
            $0.bundleID == scope.app.bundleID && $0.renewalSeats != nil && Self.groupID(of: $0) == request.path[0]
                && store.state.customers[$0.customerID]?.environment == scope.environment
        }.first
        guard let purchaser else { throw ServerAPIFailure(4_040_022, "There is no such group.") }
        let members = ([purchaser] + store.followers(of: purchaser).filter(\.isUsable)).map {
            StoreApp.appTransactionID($0.bundleID, $0.customerID)
        }
        let question = [scope.key, request.path[0], request.operation.rawValue]
        var token = try PageToken(request.value("paginationToken"), question: question, or: .unknownPaginationToken)
        let page = members.dropFirst(token.place).prefix(limit)
        let hasMore = token.place + page.count < members.count
        token.place += page.count
        return ServerAPIAnswer([
            "members": .array(page.map { .object(["appTransactionId": .string($0)]) }), "hasMore": .boolean(hasMore),
            "paginationToken": hasMore ? .string(try token.text()) : nil,
        ])
    }

    private static func groupID(of purchaser: StoreSubscription) -> String {
        "\(firstGroup + AppStore.number(of: purchaser.originalTransactionID))"
    }
}
