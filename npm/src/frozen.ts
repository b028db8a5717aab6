/** As `Object.freeze`, with a type by which editors show the comments of the members. */
export const frozen = <const T>(of: T): T => Object.freeze(of) as T;
