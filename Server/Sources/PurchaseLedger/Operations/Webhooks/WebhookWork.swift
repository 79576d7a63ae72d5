extension OutgoingEvent {
    init(_ event: NamedEvent, app: RegisteredApp) {
        (key, customer) = (event.key, event.customerKey ?? 0)
        // The random id of the entry is part of it, so events after a restore from a backup have ids other than the lost ones.
        id = "evt_\(event.entryID.bytes.hexadecimal)_\(event.key)"
        content = EventContent(event, app: app)
        isAnnounced = event.figures.isAnnounced
    }
}

extension PendingDelivery {
    init(_ row: DeliveryRow, app: RegisteredApp) {
        event = OutgoingEvent(row.event, app: app)
        (state, attempts, firstAt) = (row.state, row.attempts, row.firstAt)
    }
}
