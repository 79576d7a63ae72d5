import EvidenceMint
import Foundation
import PurchaseAPI

extension ServiceState {
    /// Answers a request to the App Store Server API. What the request changes is changed as a whole or not at all.
    /// - Parameter world: the real time, by which requests are limited.
    mutating func answer(
        _ request: ServerAPIRequest, by issuer: EvidenceIssuer, _ world: Date
    ) throws -> ServerAPIAnswer {
        let fault = takeFault(for: request)
        var answer = fault?.answer(world) ?? ServerAPIAnswer(status: 200)
        if fault?.answer(world) == nil { answer = try carryOut(request, fault, by: issuer, world) }
        if fault?.kind == .wrongTypes { answer.json = answer.json?.withTextsForNumbers }
        answer.fault = fault
        return answer
    }

    private mutating func carryOut(
        _ request: ServerAPIRequest, _ fault: ServerAPIFault?, by issuer: EvidenceIssuer, _ world: Date
    ) throws -> ServerAPIAnswer {
        do {
            guard request.operation.row.missingEnvironment != request.environment else {
                throw ServerAPIFailure.noSuchPath
            }
            var scope = ServerAPIScope(
                app: try app(of: request, world), environment: request.environment, issuer: issuer)
            if let date = limits.refuse(
                request.operation, of: scope.app.bundleID, at: scope.environment,
                factor: settings.serverAPI.limitFactor, world)
            {
                var answer = ServerAPIAnswer(.rateLimitExceeded)
                answer.retryAfter = Int64((date.timeIntervalSince1970 * 1000).rounded(.up))
                return answer
            }
            var request = request
            if fault?.kind == .anotherTransaction || fault?.kind == .anotherApp {
                exchangeTransaction(of: &request, &scope, isOfAnotherApp: fault?.kind == .anotherApp)
            }
            if fault?.kind == .stale, let frozen {
                var earlier = self
                (earlier.store, earlier.notifications) = (frozen.store, frozen.notifications)
                return try earlier.perform(request, scope)
            }
            var changed = self
            let answer = try changed.perform(request, scope)
            self = changed
            return answer
        } catch let failure as ServerAPIFailure {
            return ServerAPIAnswer(failure)
        } catch let fault as ServerAPITokenFault {
            return ServerAPIAnswer(fault)
        }
    }

    /// Takes the next fault for an answer, by the store's clock.
    private mutating func takeFault(for request: ServerAPIRequest) -> ServerAPIFault? {
        guard !settings.serverAPI.faults.isEmpty else { return nil }
        return ServerAPIFault.take(from: &settings.serverAPI.faults, at: store.now) { $0.hits(request) }
    }

    /// Asks about the first transaction of another customer, or of another app, in the same environment. Without one,
    /// the question stays as it is.
    private func exchangeTransaction(
        of request: inout ServerAPIRequest, _ scope: inout ServerAPIScope, isOfAnotherApp: Bool
    ) {
        guard let asked = request.path.first, let transaction = store.state.transactions[asked] else { return }
        let environment = scope.environment
        let others = store.state.transactions.sorted {
            $0.environment == environment && $0.customerID != transaction.customerID
                && ($0.bundleID != transaction.bundleID) == isOfAnotherApp
        }
        guard let other = others.first(where: { $0.kind == transaction.kind }) ?? others.first,
            let app = store.state.apps[other.bundleID]
        else { return }
        request.path[0] = other.transactionID
        scope = ServerAPIScope(app: app, environment: environment, issuer: scope.issuer)
    }

    private mutating func perform(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        switch request.operation {
        case .statuses: try statuses(request, scope)
        case .historyV1, .history: try history(request, scope)
        case .transaction: try transactionInfo(request, scope)
        case .appTransaction: try appTransaction(request, scope)
        case .refunds: try refunds(request, scope)
        case .refundsV1: try refundsV1(request, scope)
        case .order: try order(request, scope)
        case .finish: try finish(request, scope)
        case .accountToken: try setAccountToken(request, scope)
        case .extend: try extend(request, scope)
        case .massExtend: try massExtend(request, scope)
        case .massExtendStatus: try massExtendStatus(request, scope)
        case .consumptionV1: try consumptionV1(request, scope)
        case .consumption: try consumption(request, scope)
        case .testNotification: try testNotification(request, scope)
        case .testNotificationStatus: try testNotificationStatus(request, scope)
        case .notificationHistory: try notificationHistory(request, scope)
        case .groups, .groupMembers, .seats, .claimSeat, .releaseSeat, .associateSeat: try seatAnswer(request, scope)
        case .sendExternalReport, .externalReport: try externalReport(request, scope)
        case .setRealtimeURL, .realtimeURL, .deleteRealtimeURL: try realtimeAnswer(request, scope)
        }
    }
}

extension ClaimValue {
    /// The same with texts in place of numbers and Booleans.
    fileprivate var withTextsForNumbers: ClaimValue {
        switch self {
        case .integer(let number): .string("\(number)")
        case .number(let number): .string("\(number)")
        case .boolean(let value): .string("\(value)")
        case .array(let values): .array(values.map(\.withTextsForNumbers))
        case .object(let claims): .object(claims.map { Claim($0.name, $0.value.withTextsForNumbers) })
        case .string, .null, .raw: self
        }
    }
}

extension ServiceState {
    /// The longest life of a token, in seconds.
    private static let longestLife: Int64 = 3600
    /// How much longer a token without `iat` may last, because its client's clock may be ahead, in seconds.
    private static let tolerance: Int64 = 60

    /// Checks the token of a request. Its times count by the real clock or by the store's, whichever it fits: a client
    /// may follow either.
    /// - Returns: the app that it is for.
    func app(of request: ServerAPIRequest, _ world: Date) throws(ServerAPITokenFault) -> StoreApp {
        let words = (request.authorization ?? "").split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { throw .missing }
        let parts = words[1].utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64URL.decode(parts[0]).flatMap({ APIObject($0) }),
            let claims = Base64URL.decode(parts[1]).flatMap({ APIObject($0) }),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        guard Self.text("alg", head) == "ES256" else { throw .wrongAlgorithm }
        guard !head.has("typ") || Self.text("typ", head) == "JWT" else { throw .wrongType }
        guard let keyID = Self.text("kid", head), let key = settings.serverAPI.keys[keyID] else { throw .unknownKey }
        let signed = Data(words[1].utf8.prefix(parts[0].count + 1 + parts[1].count))
        guard key.isSignature(Data(signature), of: signed) else { throw .wrongSignature }
        guard Self.text("iss", claims) == key.issuerID else { throw .wrongIssuer }
        guard Self.text("aud", claims) == "appstoreconnect-v1" else { throw .wrongAudience }
        guard let bundleID = Self.text("bid", claims), let app = store.state.apps[bundleID],
            key.bundleID.map({ $0 == bundleID }) ?? true
        else { throw .wrongBundleID }
        guard let expiry = Self.number("exp", claims) else { throw .missingExpiry }
        let issued = Self.number("iat", claims)
        let faults = [world, store.now].map { Self.fault(expiry, issued, at: Int64($0.timeIntervalSince1970)) }
        if let fault = faults[0], faults[1] != nil { throw fault }
        guard app.isReleased ?? true || request.environment == .sandbox else { throw .unreleasedApp }
        return app
    }

    /// What is wrong with the times of a token.
    private static func fault(_ expiry: Int64, _ issued: Int64?, at now: Int64) -> ServerAPITokenFault? {
        if expiry <= now { return .expired }
        if let issued, issued > now { return .fromTheFuture }
        // The difference of two numbers from outside may overflow.
        let (life, overflows) = expiry.subtractingReportingOverflow(issued ?? now)
        return overflows || life > longestLife + (issued == nil ? tolerance : 0) ? .lastsTooLong : nil
    }

    private static func text(_ name: String, _ object: APIObject) -> String? {
        (try? object.string(name, or: .generalBadRequest)) ?? nil
    }

    private static func number(_ name: String, _ object: APIObject) -> Int64? {
        (try? object.integer(name, or: .generalBadRequest)) ?? nil
    }
}
