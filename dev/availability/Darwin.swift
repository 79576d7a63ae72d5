// Its presence says that the system is one of Apple's, for dev/check-availability.py.
