import EvidenceMint
import Foundation

extension ServiceState {
    /// The notification of an event, as a JSON object: `signed_payload` as sent, and its decoded parts `payload`,
    /// `transaction` and `renewal_info`.
    /// - Throws: `unknown_event`, and `wrong_state` if the event has no notification.
    mutating func notification(of number: Int, by issuer: EvidenceIssuer) throws -> [UInt8] {
        let event = try store.event(number)
        guard let template = try NotificationTemplate(event, in: store) else {
            throw StoreError(.wrongState, "No notification is sent for event \(number), '\(event.kind.rawValue)'.")
        }
        let fault = takeFault(.notification)
        var members = [Claim("signed_payload", .string(try issuer.signed(template, fault: fault)))]
        members.append(Claim("payload", .object(template.claims { _ in "…" })))
        if let signed = template.data?.transaction { members.append(Claim("transaction", .object(signed.claims))) }
        if let signed = template.data?.renewalInfo { members.append(Claim("renewal_info", .object(signed.claims))) }
        if let signed = template.appData?.appTransaction {
            members.append(Claim("app_transaction", .object(signed.claims)))
        }
        return ClaimValue.object(members).json
    }
}
