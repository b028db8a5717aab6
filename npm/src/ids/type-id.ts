// TypeIDs (jetify-com/typeid on GitHub).

import { type IdKind, kindOf, prefix as prefixed, type TypeId, typeIdParts } from "../forms/prefix.js";
import { frozen } from "../input.js";
import { uuid } from "./uuid.js";

/** Mints a TypeID. */
type Mint = <Prefix extends string>(prefix: Prefix) => TypeId<Prefix>;

/** The TypeIDs of one kind of thing. */
export interface TypeIdKind<Prefix extends string = string> extends IdKind<TypeId<Prefix>, string, string> {
  /** Mints one. */
  next(): TypeId<Prefix>;
}

/**
 * Mints a TypeID: a prefix, and a UUID of version 7 above all that this realm has minted, as by `uuid.v7`. Throws
 * `INVALID_TEXT` for a prefix that is not valid.
 *
 * @example
 * typeId("user") // "user_01h455vb4pex5vsknk084sn02q"
 * typeId.parts("user_01h455vb4pex5vsknk084sn02q").uuid // "01890a5d-ac96-774b-bcce-b302099a8057"
 */
export const typeId = /* @__PURE__ */ frozen(
  /* @__PURE__ */ Object.assign(((prefix: string) => mint(prefix)) as Mint, {
    /** The prefix and the UUID of a TypeID with any prefix. Throws `INVALID_TEXT`. */
    parts: (text: string): { prefix: string; uuid: string } => typeIdParts(text),
    /**
     * The TypeIDs of one kind of thing, with a type that other kinds do not have. Throws `INVALID_TEXT` for a prefix that is
     * not valid.
     *
     * @example
     * const orderId = typeId.of("order");
     * orderId.next() // TypeId<"order">
     * orderId.decode("order_01h455vb4pex5vsknk084sn02q") // "01890a5d-ac96-774b-bcce-b302099a8057"
     */
    of<Prefix extends string>(prefix: Prefix): TypeIdKind<Prefix> {
      const kind = kindOf(prefix, "uuid");
      return frozen({ ...kind, next: () => mint(prefix) }) as unknown as TypeIdKind<Prefix>;
    },
  }),
);

const mint = (prefix: string): string => prefixed.encode(prefix, uuid.v7() as `${string}-${string}`);
