extension OutgoingEvent {
    init(_ event: NamedEvent, app: RegisteredApp) {
        (key, customer) = (event.key, event.lane)
        // The random id of the entry is part of it, so events after a restore from a backup have ids other than the
        // lost ones.
        id = "evt_\(event.entryID.bytes.hexadecimal)_\(event.key)"
        content = .event(EventContent(event, app: app))
        isAnnounced = event.figures.isAnnounced
    }
}

extension PendingDelivery {
    init(_ row: DeliveryRow<NamedEvent>, app: RegisteredApp) {
        event = OutgoingEvent(row.content, app: app)
        event.customer = row.lane
        (state, attempts, firstAt) = (row.state, row.attempts, row.firstAt)
    }
}
