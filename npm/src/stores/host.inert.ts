// Databases where there are no files that could be looked at.
export const fileSystem = (_path: string): number => 0;
export const fileAt = (_path: string): string | undefined => "";
