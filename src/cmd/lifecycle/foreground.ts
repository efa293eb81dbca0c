/**
 * A cluster in this process: shows each phase of the start, then a live status line, and stops cleanly on a signal.
 * Started by --detach, the same code reports to its parent instead of a terminal.
 */
import { type Clock, createLogger, type Logger, realClock } from "#base";
import type { InProcessHandle } from "#client";
import { type ClusterConfig, contextName, dataDirAt, type Environment, startCluster } from "#cluster";
import { upDashboard } from "../inspect/dashboard.ts";
import { surviveClosedPipes } from "../process/closed-pipes.ts";
import { sentenceFor } from "../process/sentence.ts";
import { parentReporter } from "./detach.ts";
import { type NodesSummary, type Reporter, residentMb, terminalReporter } from "./terminal.ts";

export interface ForegroundOptions {
  /** Undefined: no dashboard. */
  readonly dashboardPort: number | undefined;
  /** Undefined: nothing goes wrong on purpose. */
  readonly faultSeed: number | undefined;
}

export async function runForeground(
  config: ClusterConfig,
  notes: readonly string[],
  { dashboardPort, faultSeed }: ForegroundOptions,
): Promise<void> {
  const { clock, log, reporter } = openTerminal();
  const faults = faultSeed === undefined ? undefined : (await import("#testing")).faultsBySeed(faultSeed, clock);
  const between = faults && ((component: string, handle: InProcessHandle) => faults.between(component, handle));
  const environment: Environment = { clock, log, progress: (step) => reporter.step(step), between };

  const started = await startOrFail(reporter, "the cluster", () => startCluster(config, environment));
  if (started === undefined) return;
  const { running: cluster, signalled } = started;
  // Measured from the start of the process, so that it includes loading the program.
  const readyMs = clock.now() - performance.timeOrigin;
  log.info("ready", {
    readyMs: Math.round(readyMs),
    residentMb: residentMb(),
    url: cluster.url,
    store: config.store.kind,
  });
  const { url, kubeconfig, mergedInto, store } = cluster;
  const dir = dataDirAt(config.dataDir, process.env);
  const page = dashboardPort === undefined ? undefined : await upDashboard({ clock, log, port: dashboardPort, dir });
  reporter.ready(
    {
      cluster: { url, kubeconfig, mergedInto, context: contextName(config.name) },
      nodes: nodesSummary(config),
      notes: [...notes, ...cluster.notes, ...(page?.notes ?? [])],
      ...(page?.dashboard !== undefined && { dashboard: page.dashboard.newLink() }),
      readyMs,
      residentMb: residentMb(),
    },
    () => store.revision({ timeoutMs: 900 }),
  );

  const signal = await signalled;
  log.info("stopping", { signal });
  reporter.stopping();
  // A second Ctrl-C always ends the process, even if stopping hangs.
  process.once("SIGINT", () => process.exit(130));
  // After SIGTERM (a restart, or `k8ts down`, which ends nodes itself) containers keep running. Ctrl-C ends everything.
  await page?.dashboard?.close();
  await cluster.stop({ keepNodes: signal === "SIGTERM" });
  reporter.stopped();
  log.info("stopped");
}

export interface OwnTerminal {
  readonly clock: Clock;
  readonly log: Logger;
  readonly reporter: Reporter;
}

export function openTerminal(): OwnTerminal {
  const clock = realClock();
  const detached = process.send !== undefined;
  const reporter: Reporter = detached ? parentReporter() : terminalReporter(process.stdout, clock);
  // The cluster must survive a full disk or a closed pipe behind its log.
  surviveClosedPipes();
  const log = createLogger({
    clock,
    format: process.stderr.isTTY ? "pretty" : "json",
    level: detached ? "info" : "warn",
    write: (line) => process.stderr.write(line),
  });
  return { clock, log, reporter };
}

/** Undefined if it failed, which is reported. `signalled`: the first signal after the start. */
export async function startOrFail<T>(
  reporter: Reporter,
  what: string,
  start: () => Promise<T>,
): Promise<{ readonly running: T; readonly signalled: Promise<NodeJS.Signals> } | undefined> {
  // A start that waits, for example for etcd, ends at once on a signal: what was started ends with the process, and no
  // acknowledged write is lost.
  const endEarly = () => {
    reporter.failed(`Stopped before ${what} was ready.`);
    process.exit(1);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, endEarly);
  let running: T;
  try {
    reporter.begin();
    running = await start();
  } catch (error) {
    reporter.failed(sentenceFor(error));
    process.exitCode = 1;
    return undefined;
  }
  const signalled = Promise.withResolvers<NodeJS.Signals>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => signalled.resolve(signal));
    process.off(signal, endEarly);
  }
  return { running, signalled: signalled.promise };
}

function nodesSummary({ nodes, realNodes, outside = true }: ClusterConfig): NodesSummary {
  if (realNodes !== undefined) return { kind: "real", count: realNodes.count, pulls: outside };
  const count = nodes?.count ?? 0;
  return { kind: count === 0 ? "none" : "simulated", count, pulls: false };
}
