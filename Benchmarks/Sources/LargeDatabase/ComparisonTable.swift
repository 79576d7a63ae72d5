import Foundation

/// Times side by side, with their ratio and its limit.
struct ComparisonTable {
    private let small: String
    private let large: String
    private var rows: [String] = []

    init(small: String, large: String) { (self.small, self.large) = (small, large) }

    mutating func add(_ name: String, limit: Double, _ times: (small: Double, large: Double)) {
        let ratio = times.large / times.small
        let numbers = [times.small, times.large].map { String(format: "%.0f", $0) }
        rows.append(
            "| \(name) | \(numbers[0]) | \(numbers[1]) | \(String(format: "%.2f", ratio))\(ratio > limit ? " (too much)" : "") "
                + "| \(limit) |")
    }

    var markdown: String {
        """
        small: \(small); large: \(large)

        | µs, median of five rounds | small | large | ratio | at most |
        |---|---:|---:|---:|---:|
        \(rows.joined(separator: "\n"))
        """
    }
}
