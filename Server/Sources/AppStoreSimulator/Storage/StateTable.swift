/// The tables.
enum StateTable: String, CaseIterable, Sendable {
    case settings, apps, products, customers, transactions, subscriptions, receipts, events, evidence, notifications
}
