import Foundation

/// Runs contenders in turn, in many rounds, and takes the median of each: anything that slows the machine down for a
/// while slows all of them down.
struct Contest {
    let contenders: [Contender]
    /// How long one turn of one contender lasts, in seconds.
    var turn = 0.008
    var rounds = 61

    /// Microseconds of processor time per run, in the order of the contenders.
    func medians() throws -> [Double] {
        var sink = 0
        var counts: [Int] = []
        for contender in contenders {
            counts.append(try repetitions(of: contender, &sink))
        }
        var samples = contenders.map { _ in [Double]() }
        for round in 0..<rounds {
            // Each round starts with another one, so that none always follows the same neighbour.
            for offset in contenders.indices {
                let index = (round + offset) % contenders.count
                // The caches still hold the neighbour's code, which would cost long code more than short code.
                _ = try time(contenders[index], max(1, counts[index] / 4), &sink)
                samples[index].append(try time(contenders[index], counts[index], &sink) / Double(counts[index]) * 1e6)
            }
        }
        guard sink != .min else { throw BenchmarkError("nothing was done") }
        return samples.map(\.median)
    }

    /// How many runs fill a turn.
    private func repetitions(of contender: Contender, _ sink: inout Int) throws -> Int {
        var count = 1
        while true {
            let seconds = try time(contender, count, &sink)
            if seconds >= turn / 4 || count >= 1 << 20 { return max(1, Int(Double(count) * turn / seconds)) }
            count *= 2
        }
    }

    private func time(_ contender: Contender, _ count: Int, _ sink: inout Int) throws -> Double {
        let start = Self.processorTime()
        for _ in 0..<count { sink &+= try contender.run() }
        return Self.processorTime() - start
    }

    /// The processor time of this thread in seconds, which excludes that of others.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

extension [Double] {
    var median: Double {
        let sorted = sorted()
        guard let last = sorted.last else { return .nan }
        let middle = sorted.count / 2
        if sorted.count == 1 { return last }
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
