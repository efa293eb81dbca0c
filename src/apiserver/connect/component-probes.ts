/** The components that ComponentStatuses speak of: the store, and the two that answer on this machine's loopback device. */
import { request } from "node:https";
import { dialError } from "../outbound/dial-error.ts";
import type { ServerContext } from "../rest/server-context.ts";
import type { Component } from "./component-statuses.ts";

const TIMEOUT_MS = 2_000;
const LOOPBACK = "127.0.0.1";

export function components({ store }: Pick<ServerContext, "store">): readonly Component[] {
  return [
    { name: "controller-manager", probe: (signal) => probe(10_257, signal) },
    { name: "scheduler", probe: (signal) => probe(10_259, signal) },
    { name: "etcd-0", probe: () => store.revision({ timeoutMs: TIMEOUT_MS }).then(() => "ok") },
  ];
}

function probe(port: number, signal: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // Their certificates are their own: what counts is that they answer.
  const asked = request({
    host: LOOPBACK,
    port,
    path: "/healthz",
    rejectUnauthorized: false,
    agent: false,
    timeout: TIMEOUT_MS,
    signal,
  });
  asked.once("timeout", () => asked.destroy(Object.assign(new Error("timeout"), { code: "ETIMEDOUT" })));
  asked.once("error", (error) =>
    reject(
      new Error(`Get "https://${LOOPBACK}:${port}/healthz": ${dialError(error, LOOPBACK, port)}`, { cause: error }),
    ),
  );
  asked.once("response", (response) => {
    const { statusCode = 0 } = response;
    response.setEncoding("utf8");
    let text = "";
    response.on("data", (chunk: string) => {
      text += chunk;
    });
    response.once("end", () =>
      statusCode === 200 ? resolve(text) : reject(new Error(`unexpected response: ${statusCode} ${text}`)),
    );
    response.once("error", reject);
  });
  asked.end();
  return promise;
}
