import { Snowflake } from "snowmint";

// One generator for the process. Its sequences start at random numbers: a test then sees an ID that was rounded.
export const generator = await Snowflake.lease({ sequenceStart: "random" });
