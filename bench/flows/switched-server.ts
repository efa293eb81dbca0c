/**
 * An API server whose recorder can be switched off while it runs, in a process of its own: the same code, heap and
 * machine with and without it. Its store is in memory: a disk has moods of its own, and recording is a larger part of
 * what is left.
 *
 *     benchmark ──► options · { recording: false } · "cpu" ──► server          benchmark ◄── what it was asked
 */
import { join } from "node:path";
import { startApiServer } from "#apiserver";
import { MetricsRegistry, realClock, silentLogger, systemRandom } from "#base";
import { Recorder } from "#flows";
import { ensureClusterPki } from "#pki";
import { openStore } from "#store";
import type { Target } from "../apiserver/connection.ts";

export interface SwitchedOptions {
  readonly dir: string;
}

export type Wish = SwitchedOptions | { readonly recording: boolean };

export interface Answer {
  readonly target?: Target;
  /** What the process has used of all cores so far, those that collect its garbage included. */
  readonly cpuMicroseconds: number;
}

const host = "127.0.0.1";
const recorder = new Recorder();

// Whoever started it may end without a word.
process.once("disconnect", () => process.exit());
process.on("message", (wish: Wish) => {
  answer(wish).then(
    (target) => {
      const { user, system } = process.cpuUsage();
      process.send?.({ ...(target !== undefined && { target }), cpuMicroseconds: user + system } satisfies Answer);
    },
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});

async function answer(wish: Wish): Promise<Target | undefined> {
  if ("dir" in wish) return start(wish);
  recorder.paused = !wish.recording;
  return undefined;
}

async function start({ dir }: SwitchedOptions): Promise<Target> {
  const clock = realClock();
  const log = silentLogger;
  const pki = await ensureClusterPki(join(dir, "pki"), {
    clock,
    log,
    serverNames: { dnsNames: [], ipAddresses: [host] },
  });
  const server = await startApiServer({
    host,
    port: 0,
    store: await openStore({ kind: "memory", clock, log }),
    sharedStore: false,
    certificate: { ...pki.apiserver, clientCaPem: pki.ca.certPem },
    recorder,
    metrics: new MetricsRegistry(),
    clock,
    random: systemRandom(),
    log,
  });
  return { port: server.port, caPem: pki.ca.certPem, certPem: pki.admin.certPem, keyPem: pki.admin.keyPem };
}
