// Addresses of this page that show an ID or a layout: the part after `#` says which, and no server sees it.
import { Layout, layouts } from "snowmint";
import { copyButton } from "./copy.js";
import { element } from "./element.js";

/** The content of an address: an ID, or only its decoding in one layout (`as`), or a layout in the designer. */
export type Shown = { id: string; as?: string } | { layout: string };

/** Returns the part of an address, from `#` on, that shows an ID or a layout. */
export function hashOf(shown: Shown): string {
  return `#${new URLSearchParams(shown)}`;
}

/** Makes a link, and a button that copies its whole address. */
export function linkTo(what: string, shown: Shown): HTMLElement[] {
  const hash = hashOf(shown);
  const link = element("a", { href: hash }, `Link to ${what}`);
  // Leaves out the query, which does not change the page.
  const address = () => location.href.replace(/[?#].*/s, "") + hash;
  return [link, copyButton(`the link to ${what}`, address)];
}

/**
 * Finds the layout of a link: the name of a preset, or the text of a layout.
 *
 * Throws `INVALID_LAYOUT` for another text.
 */
export function findLayout(text: string): Layout {
  return isPreset(text) ? Layout.preset(text) : Layout.parse(text);
}

/** Returns the shortest text of a layout: the name of a preset, if it has one. */
export function shortLayout(layout: Layout): string {
  return layout.name && isPreset(layout.name) ? layout.name : String(layout);
}

function isPreset(text: string): boolean {
  return Object.hasOwn(layouts.all(), text);
}
