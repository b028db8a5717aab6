// A fleet that is broken on purpose, in simulated time.
import { byId, element, say } from "./element.js";
import { choices, Fleet } from "./fleet-engine.js";
import { picture } from "./fleet-picture.js";
import { grouped } from "./time.js";

/** No rate is higher: a message in three is lost. */
const MOST = 300;
/** The page stays quick while a frame simulates no more than this. */
const STEP_MS = 4_000;

/** Starts this part of the page. */
export async function startFleet(): Promise<void> {
  const check = byId<HTMLSelectElement>("fleet-check");
  const seed = byId<HTMLInputElement>("fleet-seed");
  const speed = byId<HTMLSelectElement>("fleet-speed");
  const run = byId<HTMLButtonElement>("fleet-run");
  const remove = byId<HTMLButtonElement>("fleet-remove");
  const status = byId("fleet-status");
  // A picture that flows is motion too.
  const every = matchMedia("(prefers-reduced-motion: reduce)").matches ? 1000 : 100;
  const { checks, faults } = await choices();
  const rates = faults.map(({ rate }) => rate);
  let fleet: Fleet | null = null;
  let timer = 0;

  check.append(...checks.slice(1).map(({ name }, at) => element("option", { value: `${at + 1}` }, name)));
  /** Says in words which check is chosen: as an option the sentence is wider than a phone. */
  const explain = () => {
    const { words } = checks[Number(check.value)]!;
    say(byId("fleet-without"), `Without this check ${words.replace(/^\w/, (letter) => letter.toLowerCase())}.`);
  };
  explain();
  byId("fleet-faults").append(
    ...faults.map(({ name, rate }, at) => {
      const id = `fleet-fault-${at}`;
      const input = element("input", { id, type: "range", min: "0", max: `${MOST}`, step: "1", value: `${rate}` });
      const shown = element("output", { for: id, class: "bits" }, `${rate}`);
      input.addEventListener("input", () => {
        rates[at] = Number(input.value);
        say(shown, input.value);
        fleet?.setRate(at, rates[at]!);
      });
      return element("div", { class: "slider" }, element("label", { for: id }, name), input, shown);
    }),
  );

  const isRemoved = () => remove.getAttribute("aria-pressed") === "true";

  const show = () => {
    if (!fleet) return;
    byId("fleet-ids").textContent = grouped(fleet.ids);
    byId("fleet-count").textContent = grouped(fleet.faults);
    byId("fleet-time").textContent = duration(fleet.nowMs);
    const { duplicate } = fleet;
    const twice = byId("fleet-twice");
    twice.textContent = duplicate ? "1" : "0";
    twice.classList.toggle("broken", duplicate !== null);
    const place = byId("fleet-picture");
    place.replaceChildren(picture(fleet, place.clientWidth));
    if (!duplicate) return;
    stop();
    const [first, second] = duplicate.claims.map((claim) => fleet?.span(claim)?.process);
    const who = first === second ? `process ${first}, twice` : `process ${first}, and again by process ${second}`;
    say(
      status,
      `ID ${duplicate.id} of node ${duplicate.node} was minted by ${who}. Put the check back: then no ID is minted twice.`,
    );
  };

  const stop = () => {
    clearInterval(timer);
    timer = 0;
    say(run, fleet?.duplicate ? "Run again" : "Run the fleet");
  };

  const begin = async () => {
    fleet = await Fleet.begin(Number(seed.value) >>> 0, isRemoved() ? Number(check.value) : 0);
    for (const [at, rate] of rates.entries()) fleet.setRate(at, rate);
    say(status, "");
  };

  const go = async () => {
    if (!fleet || fleet.duplicate) await begin();
    say(run, "Pause");
    clearInterval(timer);
    timer = window.setInterval(() => {
      if (!fleet) return;
      let leftMs = (Number(speed.value) * fleet.windowMs * every) / 1000;
      while (leftMs > 0 && !fleet.duplicate) {
        const ms = Math.min(STEP_MS, Math.ceil(leftMs));
        fleet.run(ms);
        leftMs -= ms;
      }
      show();
    }, every);
  };

  /** Begins anew, with other choices. */
  const anew = async () => {
    const runs = timer !== 0;
    stop();
    await begin();
    if (runs) await go();
    else show();
  };

  run.addEventListener("click", () => {
    if (timer) stop();
    else void go();
  });
  remove.addEventListener("click", () => {
    remove.setAttribute("aria-pressed", `${!isRemoved()}`);
    say(remove, isRemoved() ? "Put the check back" : "Leave the check out");
    void anew().then(async () => {
      if (!timer) await go();
    });
  });
  check.addEventListener("change", () => {
    explain();
    if (isRemoved()) void anew();
  });
  seed.addEventListener("change", () => void anew());
  await begin();
  fleet!.run(8 * fleet!.windowMs);
  show();
  addEventListener("resize", show);
}

function duration(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes < 2) return `${Math.round(ms / 1000)} s`;
  if (minutes < 100) return `${Math.round(minutes)} min`;
  if (minutes < 6000) return `${Math.round(minutes / 60)} h`;
  return `${grouped(Math.round(minutes / 1440))} days`;
}
