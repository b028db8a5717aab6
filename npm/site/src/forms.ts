// The text forms of an ID.
import { text } from "snowmint";
import { copyButton } from "./copy.js";
import { element } from "./element.js";

/** A row a form, each with a button that copies it. */
export function formList(id: bigint): HTMLElement {
  const signed = BigInt.asIntN(64, id);
  const forms: [name: string, form: string][] = [["number", `${id}`]];
  if (signed < 0n) forms.push(["signed", `${signed}`]);
  for (const form of text.FORMS) forms.push([form, text.encode(id, form)]);
  const rows = forms.map(([name, form]) =>
    element(
      "div",
      {},
      element("dt", {}, name),
      element(
        "dd",
        {},
        element("span", { class: "code" }, form),
        copyButton(name, () => form),
      ),
    ),
  );
  return element("dl", { class: "forms" }, ...rows);
}
