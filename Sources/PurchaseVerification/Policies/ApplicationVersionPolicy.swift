/// The receipt belongs to this version of the app (attribute 3): on iOS the build number, on the Mac the version.
public struct ApplicationVersionPolicy: AppReceiptPolicy {
    private let versions: Set<String>

    /// Accepts one version.
    public init(_ version: String) { versions = [version] }

    /// Accepts any of several versions.
    public init(anyOf versions: Set<String>) { self.versions = versions }

    public var name: String { "app version" }

    public func check<Trust>(_ receipt: AppReceiptContent<Trust>) throws(VerificationError) {
        guard let found = receipt.applicationVersion else {
            throw VerificationError(.attributeMissing, expected: "an app version (attribute 3)")
        }
        guard versions.contains(found) else {
            throw VerificationError(
                .applicationVersionMismatch, expected: versions.sorted().joined(separator: " or "), found: found)
        }
    }
}
