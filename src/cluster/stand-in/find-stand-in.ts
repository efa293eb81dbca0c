/**
 * Whether a stand-in is where etcd is said to be.
 *
 * 1. Only this machine is asked, in plain text: what stands in names a folder, and others' folders are of no use.
 * 2. Whoever answers anything else is a real etcd.
 */
import { isIP } from "node:net";
import type { Clock } from "#base";
import type { StoreConfig } from "../config/cluster-config.ts";
import { STORE_PATH, type StandInStore } from "./etcd-stand-in.ts";

/** etcd may be started at the same time. */
const WAIT_MS = 5_000;
const POLL_MS = 50;
const ANSWER_MS = 2_000;

export async function findStandIn(store: StoreConfig, clock: Clock): Promise<StandInStore | undefined> {
  if (store.kind !== "etcd" || store.endpoints.length !== 1 || store.tls !== undefined) return undefined;
  const [endpoint = ""] = store.endpoints;
  if (!isOnLoopback(endpoint)) return undefined;
  const deadline = clock.monotonic() + WAIT_MS;
  for (;;) {
    const answer = await ask(endpoint);
    if (answer !== "absent") return answer;
    if (clock.monotonic() >= deadline) return undefined;
    await clock.sleep(POLL_MS);
  }
}

function isOnLoopback(endpoint: string): boolean {
  const { protocol, hostname } = new URL(endpoint);
  const host = hostname.replace(/^\[|\]$/g, "");
  const isLoopback = host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
  return protocol === "http:" && isLoopback;
}

async function ask(endpoint: string): Promise<StandInStore | undefined | "absent"> {
  try {
    const response = await fetch(`${endpoint}${STORE_PATH}`, { signal: AbortSignal.timeout(ANSWER_MS) });
    const text = await response.text();
    return response.ok ? storeIn(text) : undefined;
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { readonly code?: string };
    return code === "ECONNREFUSED" ? "absent" : undefined;
  }
}

function storeIn(text: string): StandInStore | undefined {
  try {
    const { dir, flush } = JSON.parse(text) as Partial<StandInStore>;
    return typeof dir === "string" && typeof flush === "boolean" ? { dir, flush } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
