import Foundation

/// The time and the speed of the clock.
struct ClockAnswer: Encodable {
    let now: Date
    /// Seconds of store time per second of real time.
    let rate: Double

    init(_ state: ServiceState) {
        now = state.store.now
        rate = state.clock.rate
    }
}
