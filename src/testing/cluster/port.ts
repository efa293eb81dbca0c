/** A port on loopback for clients outside of the test's process, with a kubeconfig. It lives in real time. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock, silentLogger } from "#base";
import type { InProcessHandle } from "#client";
import { createAuthority, kubeconfigFor, writeKubeconfig } from "#pki";
import { httpHandlers } from "../../apiserver/http/adapter.ts";
import type { Handle } from "../../apiserver/http/exchange.ts";
import { listen } from "../../apiserver/http/listener.ts";

export interface OpenPort {
  readonly url: string;
  readonly kubeconfig: string;
  close(): Promise<void>;
}

export interface PortOptions {
  /** 0: any free one. */
  readonly port: number;
  readonly handle: InProcessHandle;
  /** The administrator's. */
  readonly token: string;
}

const HOST = "127.0.0.1";

export async function openPort({ port, handle, token }: PortOptions): Promise<OpenPort> {
  await using opening = new AsyncDisposableStack();
  const clock = realClock();
  // Clients check certificates by the real time, which the cluster's own authority does not know.
  const authority = await createAuthority({ commonName: "k8ts-testing", clock });
  const serving = await authority.issue({
    commonName: "kube-apiserver",
    ipAddresses: [HOST],
    dnsNames: ["localhost"],
    usages: ["server"],
  });
  const listener = await listen({
    host: HOST,
    port,
    certificate: { ...serving, clientCaPem: "" },
    handlers: httpHandlers(handle as Handle, silentLogger),
    clock,
    log: silentLogger,
  });
  opening.defer(() => listener.close(0));
  const folder = await mkdtemp(join(tmpdir(), "k8ts-testing-"));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const url = `https://${HOST}:${listener.port}`;
  const kubeconfig = join(folder, "kubeconfig");
  const content = kubeconfigFor({ name: "k8ts-testing", server: url, caPem: authority.certPem, client: { token } });
  await writeKubeconfig(kubeconfig, content);
  const parts = opening.move();
  return { url, kubeconfig, close: () => parts.disposeAsync() };
}
