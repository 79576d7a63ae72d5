import Foundation
import HTTPTypes
import Hummingbird

/// Lists for people and programs: searched, in pages, newest first; and an overview that says whether they changed.
///
/// Each answer has an `ETag`. A request with a matching `If-None-Match` gets 304 without a body, so asking often costs
/// little.
struct ListRoutes {
    let service: StoreService
    let target: EvidenceTarget

    func add(to router: Router<SimulatorRequestContext>) {
        router.get("/control/overview") { request, _ in
            try await answer(request) { state, _ in Overview(state, target) }
        }
        add("transactions", to: router) { state, query in
            query.page(
                state.store.state.transactions.values.filter {
                    query.includes($0.customerID)
                        && query.finds([
                            $0.transactionID, $0.originalTransactionID, $0.productID, $0.customerID, $0.bundleID,
                        ])
                },
                by: { AppStore.number(of: $0.transactionID) > AppStore.number(of: $1.transactionID) })
        }
        add("subscriptions", to: router) { state, query in
            query.page(
                state.store.state.subscriptions.values.filter {
                    query.includes($0.customerID)
                        && query.finds([
                            $0.originalTransactionID, $0.productID, $0.customerID, $0.bundleID, $0.status.rawValue,
                        ])
                },
                by: {
                    AppStore.number(of: $0.originalTransactionID) > AppStore.number(of: $1.originalTransactionID)
                })
        }
        add("events", to: router) { state, query in
            query.page(
                state.store.state.events.values.filter {
                    query.includes($0.customerID)
                        && query.finds([
                            $0.summary, $0.kind.rawValue, $0.notification?.type, $0.notification?.subtype,
                            $0.transaction?.transactionID, $0.transaction?.originalTransactionID, $0.bundleID,
                        ])
                }, by: { $0.number > $1.number })
        }
        add("notifications", to: router) { state, query in
            query.page(
                state.notifications.values.filter {
                    query.includes($0.customerID)
                        && query.finds([
                            $0.type, $0.subtype, $0.notificationUUID, $0.transactionID, $0.bundleID, $0.state.rawValue,
                            $0.attempts.last?.result.rawValue,
                        ])
                }, by: { ($0.number, $0.isForgedCopy ? 0 : 1) > ($1.number, $1.isForgedCopy ? 0 : 1) })
        }
        add("customers", to: router) { state, query in
            query.page(
                state.store.state.customers.values.filter {
                    query.includes($0.customerID)
                        && query.finds([$0.customerID, $0.environment.rawValue, $0.storefront])
                }, by: { Array($0.customerID.utf8).lexicographicallyPrecedes(Array($1.customerID.utf8)) })
        }
        add("products", to: router) { state, query in
            query.page(
                state.store.state.products.values.filter {
                    query.finds([$0.productID, $0.bundleID, $0.kind.rawValue])
                }, by: { $0.productNumber < $1.productNumber })
        }
    }

    private func add<Row: Encodable & Sendable>(
        _ name: String, to router: Router<SimulatorRequestContext>,
        _ list: @escaping @Sendable (ServiceState, ListQuery) -> ListPage<Row>
    ) {
        router.get(RouterPath("/control/lists/\(name)")) { request, _ in
            let query = try ListQuery(request.uri)
            return try await answer(request) { state, _ in list(state, query) }
        }
    }

    /// The answer, or 304 if the client has it already.
    private func answer<Value: Encodable & Sendable>(
        _ request: Request, _ body: @escaping @Sendable (ServiceState, Date) throws -> Value
    ) async throws -> Response {
        let instance = service.instance
        let (tag, value) = try await service.change { state, world in
            let clock = "\(Int(state.store.now.timeIntervalSince1970)).\(state.clock.rate)"
            return (EntityTag("\(instance).\(state.revision).\(clock)"), try body(state, world))
        }
        if tag.matches(request.headers[.ifNoneMatch]) {
            return Response(status: .notModified, headers: [.eTag: tag.text])
        }
        var response = try Response.json(value)
        response.headers[.eTag] = tag.text
        response.headers[.cacheControl] = "no-cache"
        return response
    }
}

/// The small part of the state that a page shows all the time.
private struct Overview: Encodable {
    /// Changes with every change of content, not with time alone.
    let revision: Int
    let clock: ClockAnswer
    let apps: [StoreApp]
    let counts: Counts
    let answerFaults: [AnswerFault]
    let evidenceFaults: [EvidenceFault]
    let certificateFaults: [CertificateFault]
    let notifications: NotificationsAnswer
    let server: String?
    /// The address of the server's console.
    let console: String?

    struct Counts: Encodable {
        let products: Int
        let customers: Int
        let transactions: Int
        let subscriptions: Int
        let events: Int
        let notifications: Int
    }

    init(_ state: ServiceState, _ target: EvidenceTarget) {
        revision = state.revision
        clock = ClockAnswer(state)
        apps = state.store.apps
        counts = Counts(
            products: state.store.state.products.count, customers: state.store.state.customers.count,
            transactions: state.store.state.transactions.count,
            subscriptions: state.store.state.subscriptions.count, events: state.store.state.events.count,
            notifications: state.notifications.count)
        answerFaults = state.answerFaults
        evidenceFaults = state.evidenceFaults
        certificateFaults = state.certificateFaults
        notifications = NotificationsAnswer(state)
        (server, console) = (target.address, target.console)
    }
}

/// A strong entity tag (RFC 9110, 8.8.3).
struct EntityTag {
    let text: String

    init(_ value: String) {
        text = "\"\(value)\""
    }

    func matches(_ header: String?) -> Bool {
        guard let header else { return false }
        return header.utf8.elementsEqual(text.utf8)
    }
}
