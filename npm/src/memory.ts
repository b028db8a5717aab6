// How large the buffer of a module is: `memory.rs`. In a file without imports, as the bundler then puts the numbers in place
// of their names.

/** The most characters it holds. */
export const TEXT = 1024;
/** The most 64-bit words, which come after the characters. */
export const WORDS = 4096;
