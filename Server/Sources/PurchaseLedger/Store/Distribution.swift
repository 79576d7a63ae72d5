/// Values counted by size.
public struct Distribution: Sendable, Equatable {
    /// The largest value of each class but the last, ascending.
    public let bounds: [Double]
    /// The number of values of each class; the last class has the values above all bounds.
    public private(set) var counts: [Int]
    /// The sum of the values.
    public private(set) var sum = 0.0

    /// A distribution without values.
    ///
    /// - Parameter bounds: the largest value of each class but the last, ascending.
    public init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// Adds a value.
    public mutating func add(_ value: Double) {
        var index = 0
        while index < bounds.count, value > bounds[index] { index += 1 }
        counts[index] += 1
        sum += value
    }
}
