public import Foundation
import Synchronization

/// The time of a simulated store, for others that follow its clock: a server in the same process, so that time passes
/// in the same way for both.
public final class SimulatorTime: Sendable {
    private let clock = Mutex<StoreClock?>(nil)

    public init() {}

    /// The time of the store's clock; that of the machine until the store has one.
    public var now: Date {
        let world = Date()
        return clock.withLock { $0?.now(world) ?? world }
    }

    func follow(_ clock: StoreClock) { self.clock.withLock { $0 = clock } }
}
