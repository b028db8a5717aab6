// Buttons that copy.
import { byId, element, say } from "./element.js";

/** A button that copies a text, which is asked for when it is pressed. */
export function copyButton(what: string, text: () => string): HTMLButtonElement {
  const button = element("button", { type: "button", class: "copy", "aria-label": `Copy ${what}` }, "Copy");
  let timer = 0;
  const answer = (shown: string, said: string) => {
    button.textContent = shown;
    say(byId("announcer"), said);
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      button.textContent = "Copy";
      say(byId("announcer"), "");
    }, 2000);
  };
  button.addEventListener("click", () => {
    // Only secure contexts have a clipboard.
    const copied = navigator.clipboard?.writeText(text()) ?? Promise.reject(new Error("no clipboard"));
    copied.then(
      () => answer("Copied", `Copied ${what}`),
      () => answer("Not allowed", "The browser does not let this page copy: select the text instead"),
    );
  });
  return button;
}
