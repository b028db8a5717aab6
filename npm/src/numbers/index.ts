// snowmint/numbers: numbers that a store keeps.

export { Formatted, type FormattedOptions, type FormattedReading } from "./formatted.js";
export { NativeNumbers, type NativeNumbersOptions } from "./native.js";
export { type NumberBlock, Segments, type SegmentsOptions } from "./segments.js";
export { Sequence, type SequenceOptions, Sequences, type SequencesOptions } from "./sequences.js";
export { type TableTicketsOptions, Tickets, type TicketsOptions } from "./tickets.js";
export { Users, users } from "./users.js";
export type { UsersOptions } from "./users-options.js";
export { type NumberRange, sequence } from "./virtual.js";
