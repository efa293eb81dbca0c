/**
 * The components that ComponentStatuses report: the store, and the two that listen on this machine's loopback device.
 */
import { HttpClient, httpFailureText, networkErrorText } from "#base";
import type { ServerContext } from "../rest/server-context.ts";
import type { Component } from "./component-statuses.ts";

const TIMEOUT_MS = 2_000;
const MAX_BYTES = 64 * 1024;
const LOOPBACK = "127.0.0.1";

export function components({ store, clock }: Pick<ServerContext, "store" | "clock">): readonly Component[] {
  const probe = (port: number) => (signal: AbortSignal) => healthz(port, clock, signal);
  return [
    { name: "controller-manager", probe: probe(10_257) },
    { name: "scheduler", probe: probe(10_259) },
    { name: "etcd-0", probe: () => store.revision({ timeoutMs: TIMEOUT_MS }).then(() => "ok") },
  ];
}

async function healthz(port: number, clock: ServerContext["clock"], signal: AbortSignal): Promise<string> {
  const url = `https://${LOOPBACK}:${port}/healthz`;
  // Components have self-signed certificates: it only matters that they respond.
  const tls = { insecure: true };
  const client = new HttpClient({ clock, timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_BYTES, longer: "cut", tls });
  try {
    const result = await client.send({ url, signal });
    if (!result.ok) {
      const { reason, cause, address } = result;
      const timeout = networkErrorText({ code: "ETIMEDOUT" }, address);
      throw new Error(`Get "${url}": ${reason === "deadline" ? timeout : httpFailureText(result)}`, { cause });
    }
    const text = result.body.toString("utf8");
    if (result.status !== 200) throw new Error(`unexpected response: ${result.status} ${text}`);
    return text;
  } finally {
    client.close();
  }
}
