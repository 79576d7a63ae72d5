/// `consumption_answered`: what Apple was told about the use of a purchase, or why it was told nothing.
struct ConsumptionAnsweredDetails: JournalDetails {
    static var kind: JournalKind { .consumptionAnswered }
    /// The notification that asked (Apple, "notificationUUID").
    var notificationID: String
    var environment: String
    /// Empty after an erasure, like everything that says how the purchase was used.
    var transactionID: String
    /// What Apple took; `nil` if nothing was sent.
    var answer: ConsumptionAnswer?
    /// Why nothing was sent.
    var refusal: String?
    /// Apple's number, if it refused the answer.
    var number: Int64?
    /// From what the answer was made; other policies are compared with it.
    var situation: ConsumptionSituation?
    /// Whether Apple took an answer.
    var isSent: Bool

    /// The details without what concerns a customer.
    var ofNobody: ConsumptionAnsweredDetails {
        var details = self
        (details.transactionID, details.answer, details.situation, details.refusal) = ("", nil, nil, nil)
        return details
    }
}
