import PurchaseVerification

/// The error in a value, and the action to take.
package struct SettingFault: Error, Sendable {
    let fault: String
    let remedy: String

    package init(_ fault: String, _ remedy: String) {
        self.fault = fault
        self.remedy = remedy
    }
}
