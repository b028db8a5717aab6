// Hosts that cannot look at the file of a database.

/** The surroundings of a path, for core's rule of places. */
export interface Surroundings {
  path: string;
  /** The number of its file system. */
  fileSystem: number;
  /** The lines of `mountinfo` that are of it. */
  mounts: string[];
  /** Whether it is the directory of the file that was asked for. */
  isDirectory: boolean;
}

export const surroundings = (_file: string): Surroundings[] => [];
export const fileAt = (_path: string): string | undefined => "";
