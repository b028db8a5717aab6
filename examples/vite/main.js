import { Snowflake } from "snowmint";

const generator = await Snowflake.lease(); // another node in each tab of this browser
document.querySelector("#node").textContent = generator.node;

const button = document.querySelector("button");
button.disabled = false;
button.addEventListener("click", async () => {
  for (let i = 0; i < 10; i++) {
    const item = document.createElement("li");
    item.textContent = await generator.nextIdAsync(); // renews the lease first, if the tab was asleep
    document.querySelector("ol").append(item);
  }
});
