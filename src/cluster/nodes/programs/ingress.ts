/**
 * The ingress controller of this machine: one process with its own address on the switch, or with that of a machine
 * that is a node itself, started with the first Ingress or Gateway.
 *
 *     Ingresses, Gateways --► (the first) ──► k8ts ingress ◄── machine, nodes, Pods
 *                                       └──► endpoints
 *
 * Like nodes, it survives the cluster's process, and the next one adopts it.
 */
import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { type KubeObject, kinds } from "#api";
import { abortable, Backoff, type Clock, childController, type Logger, type Random } from "#base";
import type { Client, Informer, Informers } from "#client";
import { kubeconfigFor, writeKubeconfig } from "#pki";
import { writeFileAtomic } from "../../data/data-dir.ts";
import { endProcess, findProcesses, isAlive, type ProcessId, startDaemon } from "../machine/processes.ts";
import type { SiteNames } from "../site/names.ts";
import type { KubeletOptions } from "./kubelet.ts";

export const INGRESS_USER = "k8ts:ingress";
const { Ingress } = kinds;
const TICK_MS = 250;
const GRACE_MS = 10_000;
const RETRY = { initialMs: 500, maxMs: 30_000 };
const STAYED_UP_MS = 60_000;

/** The record. */
interface IngressRun {
  readonly process: ProcessId;
  /** Its command line: a different one restarts it. */
  readonly start: string;
}

/** Where it listens, and Ingresses are reached. */
export interface IngressPlace {
  readonly address: string;
  /** Of a network. Undefined: that of this machine. */
  readonly namespace?: string | undefined;
}

export interface IngressProcessOptions {
  readonly site: SiteNames;
  readonly place: IngressPlace;
  /** The command of k8ts processes, and their access to the API server. */
  readonly agents: KubeletOptions;
  readonly client: Client;
  readonly informers: Informers;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export function ingressArgs({ ingressKubeconfig }: SiteNames, { address }: IngressPlace): string[] {
  const flags = {
    kubeconfig: ingressKubeconfig,
    address,
    "publish-status-address": address,
    "secure-port": "0",
    "local-hosts": "true",
  };
  return ["ingress", ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
}

/** Runs until the signal aborts. The process keeps running. */
export async function keepIngress(options: IngressProcessOptions, signal: AbortSignal): Promise<void> {
  const { site, clock, random, log } = options;
  if ((await runningIngress(site)) === undefined) await firstIngress(options, signal);
  const backoff = new Backoff(RETRY, random);
  const start = startOf(options);
  let startedAt = clock.monotonic();
  while (!signal.aborted) {
    const known = await runningIngress(site);
    if (known?.start !== start) {
      if (known !== undefined) await endProcess(known.process, GRACE_MS, clock);
      const process = await begin(options);
      await writeFileAtomic(site.ingressFile, `${JSON.stringify({ process, start } satisfies IngressRun)}\n`);
      log.info("serving Ingresses", { address: options.place.address, pid: process.pid });
      if (clock.monotonic() - startedAt > STAYED_UP_MS) backoff.reset();
      startedAt = clock.monotonic();
      await clock.sleep(backoff.next(), signal);
    }
    await clock.sleep(TICK_MS, signal);
  }
}

/** Also a process without a record. */
export async function endIngress(site: SiteNames, clock: Clock, graceMs: number): Promise<void> {
  const known = await runningIngress(site);
  const found = await findProcesses((args) => args.includes(`--kubeconfig=${site.ingressKubeconfig}`));
  await Promise.all([known?.process, ...found].map((process) => process && endProcess(process, graceMs, clock)));
  await rm(site.ingressFile, { force: true });
}

/** Or the first Gateway, whose definition may come later, or never. */
async function firstIngress(options: IngressProcessOptions, signal: AbortSignal): Promise<void> {
  const { definitionEstablished, GATEWAYS, GatewayResource } = await import("#network");
  const { informers } = options;
  using waiting = childController(signal);
  const found = Promise.withResolvers<void>();
  const follow = <T extends KubeObject>(informer: Informer<T>) => {
    const look = () => {
      if (informer.cache.list().length > 0) found.resolve();
    };
    informer.onChange(look);
    look();
  };
  follow(informers.of(Ingress));
  const gateways = definitionEstablished(options, GATEWAYS, waiting.signal).then(
    () => follow(informers.of(GatewayResource)),
    (error: unknown) => {
      if (!waiting.signal.aborted) found.reject(error);
    },
  );
  await abortable(found.promise, signal).finally(() => waiting.abort());
  await gateways;
}

async function begin({ site, place, agents }: IngressProcessOptions): Promise<ProcessId> {
  const { authority, serverUrl, proxyCommand: command = agents.command } = agents;
  const [program = process.execPath, ...first] = command;
  const client = await authority.issue({ commonName: INGRESS_USER, usages: ["client"] });
  await writeKubeconfig(
    site.ingressKubeconfig,
    kubeconfigFor({ name: "ingress", server: serverUrl, caPem: authority.certPem, client }),
  );
  return startDaemon({
    program,
    args: [...first, ...ingressArgs(site, place)],
    namespace: place.namespace ?? "/proc/self/ns/net",
    logFile: site.ingressLog,
  });
}

function startOf({ site, place, agents }: IngressProcessOptions): string {
  const { proxyCommand: command = agents.command, serverUrl, authority, version } = agents;
  const parts = [command, ingressArgs(site, place), serverUrl, authority.certPem, version];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

async function runningIngress({ ingressFile }: SiteNames): Promise<IngressRun | undefined> {
  const text = await readFile(ingressFile, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const known = JSON.parse(text) as IngressRun;
  return (await isAlive(known.process)) ? known : undefined;
}
