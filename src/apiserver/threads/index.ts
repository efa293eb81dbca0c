/** One server as several threads. */

export { inStep, isFirst, type ServingThread } from "./serving-thread.ts";
