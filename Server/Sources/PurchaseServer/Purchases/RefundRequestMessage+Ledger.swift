package import PurchaseAPI
package import PurchaseLedger
import PurchaseVerification

extension RefundRequestMessage {
    package init(_ request: RefundRequest) {
        self.init(
            entryID: request.entryID.text, environment: EnvironmentName(request.environment),
            transactionID: request.transactionID, originalTransactionID: request.originalTransactionID,
            askedAt: "\(request.askedAt)", asked: request.asked, deadline: "\(request.deadline)",
            state: request.state.rawValue)
        productID = request.productID
        customerID = request.customerID
        reason = request.reason
        answeredAt = request.answeredAt.map { "\($0)" }
        answer = request.answer.map { answer in
            let measured = answer.percentage != nil && answer.isDelivered ? request.situation : nil
            return Answer(
                delivered: answer.isDelivered, consumptionPercentage: answer.percentage,
                refundPreference: answer.preference == .none ? nil : answer.preference.rawValue,
                sampleContentProvided: answer.providesSample, quantity: measured?.quantity, used: measured?.used)
        }
        refusal = request.refusal
        appStoreNumber = request.number
        closedBy = request.closedBy
        closedAt = request.closedAt.map { "\($0)" }
    }
}
