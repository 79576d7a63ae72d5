public import Foundation

extension PurchaseEngine {
    /// Asks the customer to pay, and handles the transaction.
    ///
    /// The purchase is stored before the queue is asked, so that customer and order are known when the transaction
    /// arrives: at once, after an approval days later, or in another run of the app.
    ///
    /// - Parameters:
    ///   - productID: the product.
    ///   - quantity: how many units of a consumable; otherwise 1.
    ///   - seats: how many seats the subscription has after the purchase.
    ///   - plan: how a yearly subscription is paid.
    ///   - order: the order that it pays, if the backend made one.
    ///   - offer: the offer that it uses.
    ///   - simulatesAskToBuyInSandbox: whether the sandbox acts as if the customer had to ask a parent.
    /// - Returns: the outcome; `pending` if the transaction comes later.
    @discardableResult
    public func buy(
        _ productID: String, quantity: Int = 1, seats: Int? = nil, plan: BillingPlan? = nil,
        order: PurchaseOrder? = nil, offer: PaymentOffer? = nil, simulatesAskToBuyInSandbox: Bool = false
    ) async -> PurchaseOutcome {
        let payment = PurchasePayment(
            productID: productID, quantity: quantity, seats: seats, plan: plan, offer: offer,
            simulatesAskToBuyInSandbox: simulatesAskToBuyInSandbox)
        return await begin(payment, order).outcome
    }

    struct BegunPurchase: Sendable {
        let outcome: PurchaseOutcome
        /// Whether the queue brings its outcome, so that nothing is known about it yet.
        var isQueued = false
    }

    /// Begins a purchase. A second tap while the customer is asked gets the outcome of the first.
    func begin(_ payment: PurchasePayment, _ order: PurchaseOrder?) async -> BegunPurchase {
        guard !payment.productID.isEmpty else {
            return BegunPurchase(outcome: .failed(PurchaseError(.fieldMissing, expected: "product_id")))
        }
        // Checked before the customer pays: a purchase that the server refuses to read could never be granted.
        if let order, order.orderID.isEmpty {
            return BegunPurchase(outcome: .failed(PurchaseError(.fieldMissing, expected: "order_id")))
        }
        do {
            try needCustomer()
        } catch {
            return BegunPurchase(outcome: .failed(PurchaseError(.storeFailed, error)))
        }
        var open = OpenPayment(customerID: customer?.id ?? "", payment: payment, order: order)
        if let running = payments.first(where: { isSame($0, open) })?.task {
            joinedTaps += 1
            defer { joinedTaps -= 1 }
            return await running.value
        }
        let task = Task { [open] in await self.ask(open) }
        open.task = task
        payments.append(open)
        return await task.value
    }

    /// Whether a tap is for a payment that the same customer is asked for.
    private func isSame(_ one: OpenPayment, _ other: OpenPayment) -> Bool {
        record.owner(one.customerID) == record.owner(other.customerID) && one.payment == other.payment
            && one.order == other.order
    }

    private func ask(_ open: OpenPayment) async -> BegunPurchase {
        let (productID, order) = (open.payment.productID, open.order)
        var payment = open.payment
        let started: StartedPurchase
        let token: UUID
        do {
            try needCustomer()
            let customerID = customer?.id ?? ""
            token = self.token(for: order)
            started = StartedPurchase(
                productID: productID, customerID: customerID, orderID: order?.orderID, appAccountToken: token,
                startedAt: max(time.now, record.mark.signed ?? .distantPast))
            try change { record in
                record.started = record.started.suffix(PurchaseRecord.startedLimit - 1) + [started]
                note(token, of: customerID, &record, order: order)
            }
        } catch {
            payments.removeAll { isSame($0, open) }
            return BegunPurchase(outcome: .failed(PurchaseError(.storeFailed, error)))
        }
        startedInThisRun.append(started)
        payment.appAccountToken = token
        let asked: Result<PaymentResult, PurchaseError>
        do {
            asked = .success(try await queue.buy(payment))
        } catch {
            let error = PurchaseError(.paymentFailed, error)
            asked = error.isCancellation ? .success(.cancelled) : .failure(error)
        }
        // The sheet is closed, so another tap is another purchase; with the original API when the queue has answered.
        if case .success(.queued) = asked, let place = payments.firstIndex(where: { isSame($0, open) }),
            !payments[place].isAnswered
        {
            payments[place].isQueued = true
        } else {
            payments.removeAll { isSame($0, open) }
        }
        switch asked {
        case .success(.purchased(let transaction)):
            let handled = await handle(transaction, started: started)
            let outcome = outcome(handled, of: transaction, for: record.current(started).customerID)
            if outcome != handled, case .notCounted(let error) = outcome {
                // Nobody was asked to pay.
                cancel(started)
                emit(.notCounted(PurchaseReport(transaction), error))
            }
            if case .granted(let purchase, isReplayed: false) = outcome { lookAfter(purchase) }
            return BegunPurchase(outcome: outcome)
        case .success(.pending):
            emit(.pending(PurchaseReport(nil, productID)))
            return BegunPurchase(outcome: .pending)
        case .success(.queued): return BegunPurchase(outcome: .pending, isQueued: true)
        case .success(.cancelled):
            cancel(started)
            emit(.cancelled(PurchaseReport(nil, productID)))
            return BegunPurchase(outcome: .cancelled)
        case .failure(let error):
            // An interrupted purchase can still arrive; one that nobody was asked to pay cannot.
            if error.isBeforePayment { cancel(started) }
            emit(.failed(PurchaseReport(nil, productID), error))
            return BegunPurchase(outcome: .failed(error))
        }
    }

    /// The account token of a purchase that begins. Each has one, so that a purchase without it, such as an offer code,
    /// never takes the place of one that somebody else began and did not pay.
    private func token(for order: PurchaseOrder?) -> UUID {
        if let token = order?.appAccountToken ?? customer?.appAccountToken { return token }
        let known = record.customers.filter { $0.value == customer?.id }.keys
        return known.min { $0.uuidString < $1.uuidString } ?? UUID()
    }

    /// Notes whom a token names. One that is neither the customer's nor an order's was made here.
    private func note(_ token: UUID, of customerID: String, _ record: inout PurchaseRecord, order: PurchaseOrder? = nil)
    {
        guard !customerID.isEmpty, record.customers[token] != customerID else { return }
        if token == order?.appAccountToken || token == customer?.appAccountToken {
            record.customers[token] = customerID
        } else {
            record.make(token, for: customerID)
        }
    }

    /// The account token for a purchase that StoreKit's own views make.
    package func accountToken() throws -> UUID {
        try needCustomer()
        let token = token(for: nil)
        try change { note(token, of: customer?.id ?? "", &$0) }
        return token
    }

    /// Looks at the current evidence after a purchase that may have replaced another subscription.
    private func lookAfter(_ purchase: GrantedPurchase) {
        guard purchase.expirationDate != nil else { return }
        let others = entitlements(at: currentTime()).filter { $0.isActive && $0.productID != purchase.productID }
        if others.contains(where: { $0.until != nil }) { lookSoon() }
    }

    /// Handles a transaction in any state, from `updates` or received by the app itself.
    @discardableResult
    package func handle(_ transaction: PaymentTransaction) async -> PurchaseOutcome {
        await handle(transaction, started: nil)
    }

    /// Finishes a transaction without granting it, and forgets it, for an app that wants a purchase gone which cannot
    /// be granted. A paid purchase is lost by it.
    ///
    /// - Throws: `PurchaseError` with the code `transaction_unknown`, or the queue's error.
    public func discard(_ transactionID: String) async throws {
        try load()
        let entry = record.outbox.first { $0.transaction.transactionID == transactionID }
        var transaction = entry?.transaction
        if transaction == nil {
            transaction = try await queue.unfinished().first { $0.transactionID == transactionID }
        }
        guard let transaction else { throw PurchaseError(.transactionUnknown, found: transactionID) }
        try await queue.finish(transaction)
        if let entry { try change { $0.remove(entry.key) } }
        emit(.discarded(PurchaseReport(transaction)))
    }

    func forget(_ entry: OutboxEntry) {
        guard changes({ $0.remove(entry.key) }) else { return }
        emit(.discarded(PurchaseReport(entry)))
    }

    func handle(_ transaction: PaymentTransaction, started: StartedPurchase?) async -> PurchaseOutcome {
        let outcome = await work(on: transaction, started)
        if transaction.state != .purchasing {
            for place in payments.indices where payments[place].payment.productID == transaction.productID {
                payments[place].isAnswered = true
            }
            payments.removeAll { $0.isQueued && $0.isAnswered }
            report(outcome, of: transaction)
        }
        await deliver()
        return outcome
    }

    private func work(on transaction: PaymentTransaction, _ started: StartedPurchase?) async -> PurchaseOutcome {
        switch transaction.state {
        case .purchasing: return .pending
        case .deferred:
            emit(.pending(PurchaseReport(transaction)))
            return .pending
        case .failed: return await fail(transaction)
        case .purchased, .restored: break
        }
        guard let key = transaction.key, !key.transactionID.isEmpty, !transaction.productID.isEmpty else {
            return .undetermined(PurchaseError(.fieldMissing, expected: "transaction_id and product_id"))
        }
        // A delegate that retries what has just failed would do so without end.
        if isDelivering, settled[Self.version(of: transaction)] == nil, let tried = triedAt[key.transactionID],
            time.uptime - tried < 1, let entry = record.entry(key)
        {
            return .undetermined(PurchaseError(entry.code ?? .queueFailed))
        }
        // The same transaction can arrive from the purchase, from `updates` and from a repetition at the same time.
        while let running = handling[key.transactionID] {
            let outcome = await running.value
            if settled[Self.version(of: transaction)] != nil { return outcome }
            if handling[key.transactionID] == running { handling[key.transactionID] = nil }
            // A transaction that could not be finished a moment ago is not tried again at once.
            if case .undetermined = outcome, record.entry(key)?.transaction == transaction { return outcome }
        }
        let task = Task { await self.settle(transaction, key, started) }
        handling[key.transactionID] = task
        let outcome = await task.value
        if handling[key.transactionID] == task { handling[key.transactionID] = nil }
        triedAt[key.transactionID] = record.entry(key) == nil ? nil : time.uptime
        return outcome
    }

    /// A failed payment leaves the queue. The started purchase ends if the customer cancelled it; otherwise it stays,
    /// because an interrupted purchase arrives as another transaction.
    private func fail(_ transaction: PaymentTransaction) async -> PurchaseOutcome {
        let error = transaction.failure ?? PurchaseError(.paymentFailed)
        do {
            try await queue.finish(transaction)
        } catch {
            emit(.failedOutside(PurchaseError(.queueFailed, error), PurchaseReport(transaction)))
        }
        guard error.isCancellation else {
            if error.isBeforePayment, let started = startedPurchase(of: transaction) { cancel(started) }
            emit(.failed(PurchaseReport(transaction), error))
            tell(transaction, .failed(error))
            return .failed(error)
        }
        if let started = startedPurchase(of: transaction) { cancel(started) }
        emit(.cancelled(PurchaseReport(transaction)))
        tell(transaction, .cancelled)
        return .cancelled
    }

    func dropOldStarted() {
        let kept = startedInThisRun
        _ = changes { $0.dropOldStarted(except: kept) }
    }

    /// The outcome for a customer who asked for the purchase. To somebody who buys what the App Store account has, the
    /// App Store returns the purchase as it is, also if another customer of the app made it. Its own outcome is theirs,
    /// and is reported by events.
    func outcome(
        _ outcome: PurchaseOutcome, of transaction: PaymentTransaction, for customerID: String?
    ) -> PurchaseOutcome {
        guard server != nil, let customerID, let key = transaction.key,
            let owner = record.entry(key)?.customerID ?? record.granted(key)?.customerID, owner != customerID
        else { return outcome }
        return .notCounted(PurchaseError(.ownedByAnother))
    }

    /// Ends a started purchase that the customer cancelled, or was never asked to pay. One with an order stays: the
    /// backend cancels orders.
    private func cancel(_ started: StartedPurchase) {
        guard started.orderID == nil else { return }
        let started = record.current(started)
        if let index = startedInThisRun.lastIndex(of: started) { startedInThisRun.remove(at: index) }
        _ = changes { record in
            if let index = record.started.lastIndex(of: started) { record.started.remove(at: index) }
        }
    }
}

struct OpenPayment: Sendable {
    let customerID: String
    let payment: PurchasePayment
    let order: PurchaseOrder?
    var task: Task<PurchaseEngine.BegunPurchase, Never>?
    /// Whether the queue of the original API has it, and whether a transaction of the product arrived since.
    var isQueued = false
    var isAnswered = false
}

/// An order that the app's backend made with `POST /v1/orders`.
public struct PurchaseOrder: Sendable, Equatable {
    public var orderID: String
    /// `app_account_token` of the order.
    public var appAccountToken: UUID?

    public init(orderID: String, appAccountToken: UUID? = nil) {
        (self.orderID, self.appAccountToken) = (orderID, appAccountToken)
    }
}
