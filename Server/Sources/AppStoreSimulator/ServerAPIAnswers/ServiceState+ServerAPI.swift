import EvidenceMint
import Foundation

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
            var scope = ServerAPIScope(app: try app(of: request, world), environment: request.environment)
            if let date = limits.refuse(
                request.operation, of: scope.app.bundleID, at: scope.environment, factor: serverAPI.limitFactor, world)
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
                return try earlier.perform(request, scope, by: issuer)
            }
            var changed = self
            let answer = try changed.perform(request, scope, by: issuer)
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
        guard !serverAPI.faults.isEmpty else { return nil }
        let now = store.now
        return ServerAPIFault.take(from: &serverAPI.faults, at: now) { $0.hits(request) }
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
        scope = ServerAPIScope(app: app, environment: environment)
    }

    private mutating func perform(
        _ request: ServerAPIRequest, _ scope: ServerAPIScope, by issuer: EvidenceIssuer
    ) throws -> ServerAPIAnswer {
        switch request.operation {
        case .statuses: try statuses(request, scope, by: issuer)
        case .historyV1, .history: try history(request, scope, by: issuer)
        case .transaction: try transactionInfo(request, scope, by: issuer)
        case .appTransaction: try appTransaction(request, scope, by: issuer)
        case .refunds: try refunds(request, scope, by: issuer)
        case .refundsV1: try refundsV1(request, scope, by: issuer)
        case .order: try order(request, scope, by: issuer)
        case .finish: try finish(request, scope)
        case .accountToken: try setAccountToken(request, scope)
        case .extend: try extend(request, scope)
        case .massExtend: try massExtend(request, scope)
        case .massExtendStatus: try massExtendStatus(request, scope)
        case .consumptionV1: try consumptionV1(request, scope)
        case .consumption: try consumption(request, scope)
        case .testNotification: try testNotification(request, scope)
        case .testNotificationStatus: try testNotificationStatus(request, scope, by: issuer)
        case .notificationHistory: try notificationHistory(request, scope, by: issuer)
        case .groups, .groupMembers, .seats, .claimSeat, .releaseSeat, .associateSeat: try seatAnswer(request, scope)
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
