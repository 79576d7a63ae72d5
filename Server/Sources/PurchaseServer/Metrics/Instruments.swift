import Synchronization

/// The instruments of a metric, by what their labels are made of. To create one takes some microseconds, and to find
/// one takes a tenth of one.
final class Instruments<Labels: Hashable & Sendable, Instrument: AnyObject & Sendable>: Sendable {
    private let known = Mutex<[Labels: Instrument]>([:])
    private let make: @Sendable (Labels) -> Instrument

    init(_ make: @escaping @Sendable (Labels) -> Instrument) { self.make = make }

    subscript(labels: Labels) -> Instrument {
        known.withLock { known in
            if let instrument = known[labels] { return instrument }
            let instrument = make(labels)
            // Beyond the limit, all are one series.
            if known.count < MetricRegistry.limit { known[labels] = instrument }
            return instrument
        }
    }
}
