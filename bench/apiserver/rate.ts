/** Requests in a second, as most clients send them: 32 connections of HTTP/1.1. */
import type { Job } from "./load.ts";
import type { Generator } from "./processes.ts";

export type Load = Omit<Job, "protocol" | "connections">;

export async function rate(generator: Generator, load: Load): Promise<number> {
  const { ms } = await generator.run({ protocol: "http/1.1", connections: 32, ...load });
  return (load.requests * 1000) / ms;
}
