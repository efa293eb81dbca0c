/** One who asks, waits for the answer, rests a little and asks again: how long each answer took. */
import { Agent, request } from "node:https";
import type { Target } from "../apiserver/connection.ts";

export interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

const REST_MS = 2;

export async function callAgain(target: Target, path: string, times: number): Promise<Latencies> {
  const { port, caPem: ca, certPem: cert, keyPem: key } = target;
  const agent = new Agent({ ca, cert, key, keepAlive: true, maxSockets: 1 });
  const took: number[] = [];
  try {
    for (let i = 0; i < times; i++) {
      const start = performance.now();
      await ask({ host: "127.0.0.1", port, path, agent });
      took.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
    }
  } finally {
    agent.destroy();
  }
  // The first ones open the connection and warm up both sides.
  const sorted = took.slice(20).sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

function ask(options: { host: string; port: number; path: string; agent: Agent }): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(options, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${options.path}: ${response.statusCode}`));
      response.resume();
      response.once("end", resolve);
    });
    outgoing.once("error", reject);
    outgoing.end();
  });
}
