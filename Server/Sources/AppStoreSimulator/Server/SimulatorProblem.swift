import HTTPTypes
import Hummingbird

extension StoreError.Code {
    var httpStatus: HTTPResponse.Status {
        switch self {
        case .unknownApp, .unknownProduct, .unknownCustomer, .unknownTransaction, .unknownSubscription, .unknownOffer,
            .unknownEvent, .unknownPayment, .noReceipt:
            .notFound
        case .alreadyExists, .alreadySubscribed, .wrongState, .notForSale, .notEligible, .notShareable,
            .clockBackwards, .tooManyRenewals:
            .conflict
        case .invalidValue: .unprocessableContent
        }
    }
}
