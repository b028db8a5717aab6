"""What holds for all tests."""

import signal

# A shell that runs a job in the background has it ignore this signal, and what the job starts inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)
