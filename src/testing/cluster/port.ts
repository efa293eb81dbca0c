/** A port on loopback for clients outside of the test's process, with a kubeconfig. It lives in real time. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock, silentLogger } from "#base";
import type { InProcessHandle } from "#client";
import { type Authority, createAuthority, kubeconfigFor, kubeconfigText, writeKubeconfig } from "#pki";
import { httpHandlers } from "../../apiserver/http/adapter.ts";
import type { Handle } from "../../apiserver/http/exchange.ts";
import { listen } from "../../apiserver/http/listener.ts";

/** How clients reach a port: as a kubeconfig, and as its parts for those who do not read YAML. */
export interface Connection {
  readonly server: string;
  readonly kubeconfigFile: string;
  readonly kubeconfig: string;
  /** In base64, as in a kubeconfig. */
  readonly certificateAuthorityData: string;
  /** The administrator's. */
  readonly token: string;
}

export interface OpenPort {
  readonly url: string;
  /** The file. */
  readonly kubeconfig: string;
  readonly connection: Connection;
  /** For ports of forks. */
  readonly authority: Authority;
  close(): Promise<void>;
}

export interface PortOptions {
  /** 0: any free one. */
  readonly port: number;
  readonly handle: InProcessHandle;
  /** The administrator's. */
  readonly token: string;
  /** Where the kubeconfig is to be. Default: in a folder of its own, which goes with the port. */
  readonly kubeconfig?: string | undefined;
  /** Issues the serving certificate. Default: one of its own. */
  readonly authority?: Authority | undefined;
}

const HOST = "127.0.0.1";

export async function openPort({ port, handle, token, ...given }: PortOptions): Promise<OpenPort> {
  await using opening = new AsyncDisposableStack();
  const clock = realClock();
  // Clients check certificates by the real time, which the cluster's own authority does not know.
  const authority = given.authority ?? (await createAuthority({ commonName: "k8ts-testing", clock }));
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
  const kubeconfig = given.kubeconfig ?? join(await ownFolder(opening), "kubeconfig");
  if (given.kubeconfig !== undefined) opening.defer(() => rm(kubeconfig, { force: true }));
  const url = `https://${HOST}:${listener.port}`;
  const content = kubeconfigFor({ name: "k8ts-testing", server: url, caPem: authority.certPem, client: { token } });
  await writeKubeconfig(kubeconfig, content);
  const parts = opening.move();
  const connection = {
    server: url,
    kubeconfigFile: kubeconfig,
    kubeconfig: kubeconfigText(content),
    certificateAuthorityData: Buffer.from(authority.certPem).toString("base64"),
    token,
  };
  return { url, kubeconfig, connection, authority, close: () => parts.disposeAsync() };
}

async function ownFolder(opening: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "k8ts-testing-"));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
