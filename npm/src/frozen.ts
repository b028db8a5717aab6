/** As `Object.freeze`, whose type keeps from editors what is told in an object of its members. */
export const frozen = <const T>(of: T): T => Object.freeze(of) as T;
