import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore

extension Routes {
    /// Lists for people and programs: searched, in pages, newest first; and an overview that says whether they changed.
    ///
    /// Each answer has an `ETag`. A request with a matching `If-None-Match` gets 304 without a body, so asking often
    /// costs little.
    func addLists(_ target: EvidenceTarget) {
        let service = service
        router.get("/control/overview") { request, _ in
            try await service.answer(request) { state in state.overview(target) }
        }
        addList("transactions", \.store.state.transactions, of: { $0.customerID }) {
            [$0.transactionID, $0.originalTransactionID, $0.productID, $0.customerID, $0.bundleID]
        } by: {
            AppStore.number(of: $0.transactionID) > AppStore.number(of: $1.transactionID)
        }
        addList("subscriptions", \.store.state.subscriptions, of: { $0.customerID }) {
            [$0.originalTransactionID, $0.productID, $0.customerID, $0.bundleID, $0.status.rawValue]
        } by: {
            AppStore.number(of: $0.originalTransactionID) > AppStore.number(of: $1.originalTransactionID)
        }
        addList("events", \.store.state.events, of: { $0.customerID }) {
            [
                $0.summary, $0.kind.rawValue, $0.notification?.type, $0.notification?.subtype,
                $0.transaction?.transactionID, $0.transaction?.originalTransactionID, $0.bundleID,
            ]
        } by: {
            $0.number > $1.number
        }
        addList("notifications", \.notifications, of: { $0.customerID }) {
            [
                $0.type, $0.subtype, $0.notificationUUID, $0.transactionID, $0.bundleID, $0.state.rawValue,
                $0.attempts.last?.result.rawValue,
            ]
        } by: {
            ($0.number, $0.isForgedCopy ? 0 : 1) > ($1.number, $1.isForgedCopy ? 0 : 1)
        }
        addList("customers", \.store.state.customers, of: { $0.customerID }) {
            [$0.customerID, $0.environment.rawValue, $0.storefront]
        } by: {
            Array($0.customerID.utf8).lexicographicallyPrecedes(Array($1.customerID.utf8))
        }
        addList("products", \.store.state.products, of: nil) {
            [$0.productID, $0.bundleID, $0.kind.rawValue]
        } by: {
            $0.productNumber < $1.productNumber
        }
    }

    /// A list of the rows of a table.
    /// - Parameters:
    ///   - customer: whose a row is; nil if rows are nobody's.
    ///   - texts: are searched.
    ///   - areInOrder: whether a row comes before another.
    private func addList<Row: Encodable & Sendable>(
        _ name: String, _ table: any KeyPath<ServiceState, StoreTable<Row>> & Sendable,
        of customer: (@Sendable (Row) -> String?)?, _ texts: @escaping @Sendable (Row) -> [String?],
        by areInOrder: @escaping @Sendable (Row, Row) -> Bool
    ) {
        let service = service
        router.get(RouterPath("/control/lists/\(name)")) { request, _ in
            let query = try ListQuery(request.uri)
            return try await service.answer(request) { state -> Members in
                let rows = state[keyPath: table].values.filter { row in
                    (customer.map { query.includes($0(row)) } ?? true) && query.finds(texts(row))
                }
                let page = rows.sorted(by: areInOrder).dropFirst(query.offset).prefix(query.limit)
                return ["total": rows.count, "offset": query.offset, "items": Array(page)]
            }
        }
    }
}

extension StoreService {
    /// The answer with an entity tag (RFC 9110, 8.8.3), or 304 if the client has it already.
    nonisolated fileprivate func answer(
        _ request: Request, _ body: @escaping @Sendable (ServiceState) throws -> Members
    ) async throws -> Response {
        let instance = instance
        let (tag, value) = try await change { state, _ in
            let clock = "\(Int(state.store.now.timeIntervalSince1970)).\(state.clock.rate)"
            return ("\"\(instance).\(state.revision).\(clock)\"", try body(state))
        }
        if request.headers[.ifNoneMatch].map({ $0.utf8.elementsEqual(tag.utf8) }) ?? false {
            return Response(status: .notModified, headers: [.eTag: tag])
        }
        var response = try Response.json(value)
        response.headers[.eTag] = tag
        response.headers[.cacheControl] = "no-cache"
        return response
    }
}

/// The query of a list: `search`, `customer_id`, `offset` and `limit`.
private struct ListQuery: Sendable {
    private let search: [UInt8]
    private let customerID: String?
    let offset: Int
    let limit: Int

    /// - Throws: `StoreError` with `invalid_value`, `UnknownField`.
    init(_ uri: URI) throws {
        var values: [String: String] = [:]
        for (key, value) in uri.queryParameters {
            let name = String(key)
            guard Self.names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
                throw UnknownField(name, known: Self.names)
            }
            values[name] = String(value)
        }
        search = (values["search"] ?? "").utf8.map(\.small)
        customerID = values["customer_id"].flatMap { $0.isEmpty ? nil : $0 }
        offset = try Self.number("offset", values, 0, 0...Int(Int32.max))
        limit = try Self.number("limit", values, 25, 1...200)
    }

    private static let names = ["search", "customer_id", "offset", "limit"]

    private static func number(
        _ name: String, _ values: [String: String], _ standard: Int, _ range: ClosedRange<Int>
    ) throws -> Int {
        guard let text = values[name] else { return standard }
        guard let number = Int(text), range.contains(number) else {
            throw StoreError(.invalidValue, "'\(name)' is a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    /// Whether the query asks for rows of this customer.
    func includes(_ customer: String?) -> Bool {
        guard let customerID else { return true }
        return customer.map { $0.utf8.elementsEqual(customerID.utf8) } ?? false
    }

    /// Whether one of the texts contains the searched text, in any case of ASCII letters.
    func finds(_ texts: [String?]) -> Bool {
        guard let first = search.first else { return true }
        return texts.contains { text in
            guard let bytes = text.map({ $0.utf8.map(\.small) }), bytes.count >= search.count else { return false }
            return (0...(bytes.count - search.count)).contains {
                bytes[$0] == first && bytes[$0..<($0 + search.count)].elementsEqual(search)
            }
        }
    }
}

extension ServiceState {
    /// The small part of the state that a page shows all the time. Its revision changes with every change of content,
    /// not with time alone.
    fileprivate func overview(_ target: EvidenceTarget) -> Members {
        let state = store.state
        let counts: Members = [
            "products": state.products.count, "customers": state.customers.count,
            "transactions": state.transactions.count, "subscriptions": state.subscriptions.count,
            "events": state.events.count, "notifications": notifications.count,
        ]
        return [
            "revision": revision, "clock": clockAnswer, "apps": store.apps, "counts": counts,
            "answer_faults": settings.answerFaults, "evidence_faults": settings.evidenceFaults,
            "certificate_faults": settings.certificateFaults, "notifications": notificationsAnswer,
            "server": target.address,
            "console": target.console,
        ]
    }
}
