// In a file without imports, as the bundler then puts the value in place of the name, and leaves out what would block.
export const blocking = false;
