// Browsers, workers, and every host that is nothing else. Databases there lie in no file that could be looked at.
export { durabilityModule } from "./packed.js";

export const fileSystem = (_path: string): number => 0;
export const fileAt = (_path: string): string | undefined => "";
