import EvidenceMint
import Foundation

/// Something could not be read.
struct InputError: Error, CustomStringConvertible {
    let source: String
    let reason: String

    init(_ source: String, _ reason: String) {
        self.source = source
        self.reason = reason
    }

    var description: String { "\(source.printable): \(reason.printable)" }
}
