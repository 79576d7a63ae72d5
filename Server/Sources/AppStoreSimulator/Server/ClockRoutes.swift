import Foundation
import Hummingbird

/// The store's clock.
struct ClockRoutes {
    let service: StoreService

    func add(to router: Router<SimulatorRequestContext>) {
        let routes = StateRoutes(router: router, service: service)
        routes.get("/control/clock") { state, _ in ClockAnswer(state) }
        routes.post("/control/clock", ClockChange.self) { state, change, call in
            try change.apply(to: &state, call.world)
            return ClockAnswer(state)
        }
    }
}

private struct ClockChange: RequestBody {
    /// The time to set.
    let time: Date?
    let advance: StorePeriod?
    /// The same in seconds.
    let advanceSeconds: Int?
    /// The new speed; 0 stops the clock.
    let rate: Double?

    static let members: [BodyMember] = ["time", "advance", "advance_seconds", "rate"]

    func apply(to state: inout ServiceState, _ world: Date) throws(StoreError) {
        guard [time != nil, advance != nil, advanceSeconds != nil].filter({ $0 }).count <= 1 else {
            throw StoreError(.invalidValue, "Give one of 'time', 'advance' and 'advance_seconds'.")
        }
        let target =
            time ?? advance?.end(from: state.store.now)
            ?? advanceSeconds.map { state.store.now.addingTimeInterval(Double($0)) }
        if let target { try state.moveClock(to: target, world) }
        guard let rate else { return }
        guard (0...StoreClock.fastestRate).contains(rate) else {
            throw StoreError(.invalidValue, "A rate is 0 to \(Int(StoreClock.fastestRate)) seconds a second.")
        }
        state.setClock(world, rate: rate)
    }
}

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
