/** The test kit. */
export { VirtualClock } from "#base";
