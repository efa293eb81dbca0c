export { type HeavyOptions, heavyWrites } from "./heavy-writes.ts";
