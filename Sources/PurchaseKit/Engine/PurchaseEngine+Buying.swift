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
    /// - Returns: the outcome; `pending` if the transaction comes later, `queued` if the original API's queue brings
    ///   it.
    @discardableResult
    public func buy(
        _ productID: String, quantity: Int = 1, seats: Int? = nil, plan: BillingPlan? = nil,
        order: PurchaseOrder? = nil, offer: PaymentOffer? = nil, simulatesAskToBuyInSandbox: Bool = false
    ) async -> PurchaseOutcome {
        let payment = PurchasePayment(
            productID: productID, quantity: quantity, seats: seats, plan: plan, offer: offer,
            simulatesAskToBuyInSandbox: simulatesAskToBuyInSandbox)
        return await begin(payment, order)
    }

    /// Begins a purchase. A second tap while the customer is asked gets the outcome of the first.
    func begin(_ payment: PurchasePayment, _ order: PurchaseOrder?) async -> PurchaseOutcome {
        // Checked before the customer pays: a purchase that the server refuses to read could never be granted.
        for (name, value) in [("product_id", payment.productID), ("order_id", order?.orderID ?? " ")]
        where value.isEmpty {
            return .failed(PurchaseError(.fieldMissing, expected: name))
        }
        do { try needCustomer() } catch { return .failed(PurchaseError(.storeFailed, error)) }
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

    /// Whether a tap is for a product that the same customer is asked to pay, perhaps for another order of theirs.
    private func isSame(_ one: OpenPayment, _ other: OpenPayment) -> Bool {
        record.owner(one.customerID) == record.owner(other.customerID)
            && one.payment.productID == other.payment.productID
    }

    private func ask(_ open: OpenPayment) async -> PurchaseOutcome {
        let (productID, order) = (open.payment.productID, open.order)
        var payment = open.payment
        let started: StartedPurchase
        let token: UUID
        do {
            try needCustomer()
            let customerID = customer?.id ?? ""
            token = self.token(for: order, of: customer)
            try requireUsable(token, of: customerID)
            started = StartedPurchase(
                productID: productID, customerID: customerID, orderID: order?.orderID, appAccountToken: token,
                startedAt: max(time.now, record.mark.signed ?? .distantPast))
            try change { record in
                record.started = record.started.suffix(PurchaseRecord.startedLimit - 1) + [started]
                note(token, of: customer, &record, order: order)
            }
        } catch {
            payments.removeAll { isSame($0, open) }
            return .failed(PurchaseError(.storeFailed, error))
        }
        startedInThisRun.append(started)
        payment.appAccountToken = token
        let asked: Result<PaymentResult, any Error>
        do { asked = .success(try await queue.buy(payment)) } catch { asked = .failure(error) }
        // The sheet is closed, so another tap is another purchase; with the original API when the queue has answered.
        if case .success(.queued) = asked, let place = payments.firstIndex(where: { isSame($0, open) }),
            !payments[place].isAnswered
        {
            payments[place].isQueued = true
        } else {
            payments.removeAll { isSame($0, open) }
        }
        return await end(asked, of: productID, started)
    }

    /// Handles the end of a purchase in StoreKit's own views.
    package func handle(
        sold: Result<PaymentResult, any Error>, of productID: String
    ) async -> PurchaseOutcome { await end(sold, of: productID, nil) }

    private func end(
        _ asked: Result<PaymentResult, any Error>, of productID: String, _ started: StartedPurchase?
    ) async -> PurchaseOutcome {
        let result: PaymentResult
        do { result = try asked.get() } catch {
            let error = PurchaseError(.paymentFailed, error)
            guard !error.isCancellation else { return await end(.success(.cancelled), of: productID, started) }
            // An interrupted purchase can still arrive; one that nobody was asked to pay cannot.
            if error.isBeforePayment { cancel(started) }
            emit(.failed(PurchaseReport(nil, productID), error))
            return .failed(error)
        }
        switch result {
        case .purchased(let transaction):
            let handled = await handle(transaction, started: started)
            let buyer = started.map { record.current($0).customerID } ?? customer?.id
            let outcome = outcome(handled, of: transaction, for: buyer)
            if outcome != handled, case .notCounted(let error) = outcome {
                // Nobody was asked to pay.
                cancel(started)
                emit(.notCounted(PurchaseReport(transaction), error))
            }
            if case .granted(let purchase, isReplayed: false) = outcome { lookAfter(purchase) }
            return outcome
        case .pending:
            emit(.pending(PurchaseReport(nil, productID)))
            return .pending
        case .queued: return .queued
        case .cancelled:
            cancel(started)
            emit(.cancelled(PurchaseReport(nil, productID)))
            return .cancelled
        }
    }

    /// The account token of a purchase that begins. Each has one, so that a purchase without it, such as an offer code,
    /// never takes the place of one that somebody else began and did not pay.
    private func token(for order: PurchaseOrder?, of buyer: PurchaseCustomer?) -> UUID {
        if let token = order?.appAccountToken ?? buyer?.appAccountToken { return token }
        let known = record.customers.filter { $0.value == buyer?.id }.keys
        return known.min { $0.uuidString < $1.uuidString } ?? UUID()
    }

    /// Notes whom a token names. One that is neither the customer's nor an order's was made here.
    private func note(
        _ token: UUID, of buyer: PurchaseCustomer?, _ record: inout PurchaseRecord, order: PurchaseOrder? = nil
    ) {
        guard let buyer, record.customers[token] != buyer.id else { return }
        if token == order?.appAccountToken || token == buyer.appAccountToken {
            record.customers[token] = buyer.id
        } else {
            record.make(token, for: buyer.id)
        }
    }

    /// Refuses another payment with a token that was made here, while one waits because the server knows no such token
    /// (`require_account_token`): it could not be granted either.
    private func requireUsable(_ token: UUID, of customerID: String) throws {
        let code = PurchaseError.Code.accountTokenNeeded
        guard record.isMade(token), record.outbox.contains(where: { $0.customerID == customerID && $0.code == code })
        else { return }
        throw PurchaseError(code)
    }

    /// The account token for a purchase that StoreKit's own views make, which nobody can refuse: while nobody is signed
    /// in, it is the last customer's, and waits for them.
    package func accountToken() throws -> UUID {
        try load()
        if customer != nil || record.lastCustomer == nil { try needCustomer() }
        let buyer = shownCustomer
        let token = token(for: nil, of: buyer)
        try change { note(token, of: buyer, &$0) }
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
            if error.isBeforePayment { cancel(startedPurchase(of: transaction)) }
            emit(.failed(PurchaseReport(transaction), error))
            tell(transaction, .failed(error))
            return .failed(error)
        }
        cancel(startedPurchase(of: transaction))
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

    /// Ends a started purchase that was cancelled or never asked for. One with an order stays for the backend.
    private func cancel(_ purchase: StartedPurchase?) {
        guard let purchase, purchase.orderID == nil else { return }
        let started = record.current(purchase)
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
    var task: Task<PurchaseOutcome, Never>?
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
