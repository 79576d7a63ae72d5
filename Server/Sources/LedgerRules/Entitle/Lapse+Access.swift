extension Lapse {
    /// When assumed access ends.
    ///
    /// - Parameter tolerance: the setting `lapse_tolerance`, in milliseconds.
    func assumedUntil(_ tolerance: Int64) -> Timestamp { end.adding(milliseconds: min(tolerance, longest), times: 1) }
}
