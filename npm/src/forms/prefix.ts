// Prefixed IDs, which name the kind of object.
import { digits, frozen, type Id } from "../input.js";
import { tools } from "../wasm/tools.js";

declare const OF: unique symbol;
type Prefixed<Prefix extends string> = Prefix extends "" ? string : `${Prefix}_${string}`;
/** A 64-bit ID with a prefix, such as `user_1asd13xh1f800`. No other string has this type: `prefix.of("user").parse` checks one. */
export type PrefixedId<Prefix extends string = string> = Prefixed<Prefix> & { readonly [OF]: "id" };
/** A TypeID: a UUID with a prefix, such as `user_01h455vb4pex5vsknk084sn02q`. No other string has this type. */
export type TypeId<Prefix extends string = string> = Prefixed<Prefix> & { readonly [OF]: "uuid" };

/** The IDs of one kind of thing. `Value` is a bigint, or a UUID. */
export interface IdKind<Text extends string = string, Value = bigint | string, Input = Id> {
  /** The prefix. */
  readonly prefix: string;
  /** Writes a value. */
  encode(value: Input): Text;
  /** Reads a text. Throws `INVALID_TEXT` for another prefix, another length, or a character that has no meaning. */
  decode(text: string): Value;
  /** Checks a text, and returns it. Throws as `decode`. */
  parse(text: string): Text;
  /** Whether a value is a text that `decode` reads. */
  is(text: unknown): text is Text;
}

interface Encode {
  /**
   * Writes a 64-bit ID or the text of a UUID after a prefix: at most 63 characters a-z and _, with a letter at each end, or
   * none. Throws `INVALID_TEXT` for another prefix or a text that is no UUID, and `INVALID_ID` for a number beyond 64 bits.
   *
   * @example
   * prefix.encode("user", 1541815603606036480n) // "user_1asd13xh1f800"
   * prefix.encode("user", "01890a5d-ac96-774b-bcce-b302099a8057") // "user_01h455vb4pex5vsknk084sn02q"
   */
  <Prefix extends string>(prefix: Prefix, id: bigint | number): PrefixedId<Prefix>;
  <Prefix extends string>(prefix: Prefix, uuid: `${string}-${string}`): TypeId<Prefix>;
  <Prefix extends string>(prefix: Prefix, value: Id): PrefixedId<Prefix> | TypeId<Prefix>;
}

/** A type that is taken from the other arguments alone, as `NoInfer` of later compilers. */
type Given<T> = [T][T extends unknown ? 0 : never];

interface Decode {
  /**
   * Reads the 64-bit ID of a text with this prefix, or the UUID if as many characters follow. With `kind` the value must be
   * of that kind. Throws `INVALID_TEXT` for another prefix, another length, upper case, and characters of no meaning.
   *
   * @example
   * prefix.decode("user", "user_1asd13xh1f800") // 1541815603606036480n
   * prefix.decode("user", "order_1asd13xh1f800", "id") // throws INVALID_TEXT
   */
  <Prefix extends string>(prefix: Prefix, text: PrefixedId<Given<Prefix>>): bigint;
  <Prefix extends string>(prefix: Prefix, text: TypeId<Given<Prefix>>): string;
  (prefix: string, text: string, kind: "id"): bigint;
  (prefix: string, text: string, kind: "uuid"): string;
  (prefix: string, text: string): bigint | string;
}

/** Texts after a prefix: a 64-bit ID has 13 characters of Crockford's base 32 in lower case, and a UUID 26, as a TypeID. */
export const prefix = /* @__PURE__ */ frozen({
  /** Writes a 64-bit ID, or the text of a UUID, after a prefix. */
  encode: encode as Encode,
  /** Reads the 64-bit ID, or the UUID, of a text with a prefix. */
  decode: decode as Decode,
  /**
   * The 64-bit IDs of one kind of thing, with a type that other kinds do not have. Throws `INVALID_TEXT` for a prefix that is
   * not valid.
   *
   * @example
   * const userId = prefix.of("user");
   * userId.encode(gen.nextId()) // PrefixedId<"user">
   */
  of<Prefix extends string>(prefix: Prefix): IdKind<PrefixedId<Prefix>, bigint, Id> {
    return kindOf(prefix, "id") as IdKind<PrefixedId<Prefix>, bigint, Id>;
  },
});

/** The functions of a kind of thing. */
export function kindOf(prefix: string, kind: "id" | "uuid"): IdKind<string, bigint | string, Id> {
  encode(prefix, 0);
  const read = (text: string) => decode(prefix, text, kind);
  return frozen({
    prefix,
    encode: (value: Id) => (kind === "id" ? encodeId(prefix, value) : encodeUuid(prefix, String(value))),
    decode: read,
    parse(text: string): string {
      read(text);
      return text;
    },
    is(text: unknown): text is string {
      try {
        read(text as string);
        return typeof text === "string";
      } catch {
        return false;
      }
    },
  });
}

function encode(prefix: string, value: Id): string {
  const isId = typeof value !== "string" || /^-?\d+$/.test(value);
  return isId ? encodeId(prefix, value) : encodeUuid(prefix, value);
}

const encodeId = (prefix: string, id: Id): string => tools().prefixedId(String(prefix), digits(id));

const encodeUuid = (prefix: string, uuid: string): string => tools().prefixedUuid(String(prefix), String(uuid));

function decode(prefix: string, text: string, kind?: "id" | "uuid"): bigint | string {
  const [start, given] = [String(prefix), String(text)];
  const isUuid = kind ? kind === "uuid" : tools().isPrefixedUuid(given);
  return isUuid ? tools().uuidOfPrefixed(start, given) : tools().idOfPrefixed(start, given);
}

/** Reads the prefix and the UUID of a TypeID. */
export const typeIdParts = (text: string): { prefix: string; uuid: string } => tools().typeIdParts(String(text));
