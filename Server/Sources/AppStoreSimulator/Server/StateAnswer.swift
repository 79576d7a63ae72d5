/// The whole state, with only the newest hundred events.
struct StateAnswer: Encodable {
    let clock: ClockAnswer
    let apps: [StoreApp]
    let products: [StoreProduct]
    let customers: [StoreCustomer]
    let transactions: [StoreTransaction]
    let subscriptions: [StoreSubscription]
    let events: [StoreEvent]
    let answerFaults: [AnswerFault]
    let evidenceFaults: [EvidenceFault]
    let certificateFaults: [CertificateFault]

    init(_ state: ServiceState) {
        clock = ClockAnswer(state)
        apps = state.store.apps
        products = state.store.products
        customers = state.store.customers
        transactions = state.store.transactions
        subscriptions = state.store.subscriptions
        events = state.store.events.suffix(100)
        answerFaults = state.answerFaults
        evidenceFaults = state.evidenceFaults
        certificateFaults = state.certificateFaults
    }
}
