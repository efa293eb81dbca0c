/** The server of a running kubelet with a certificate from files: the `serve` option of `runKubelet`. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, isAbort, type Logger, type MetricsRegistry } from "#base";
import { createAuthority, type KeyPair } from "#pki";
import type { Page, ServedKubelet } from "./served.ts";
import { startKubeletServer } from "./server.ts";

const LOOK_MS = 10_000;

export interface ServeOptions {
  /**
   * With kubelet.crt and kubelet.key, or kubelet-server-current.pem. Without them the kubelet issues its own
   * certificate.
   */
  readonly certDir: string;
  readonly clientCaPem: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  readonly page?: Page | undefined;
}

export function serveKubelet(options: ServeOptions): (kubelet: ServedKubelet, signal: AbortSignal) => Promise<void> {
  const { certDir, clientCaPem, clock, log, metrics, page } = options;
  return async (kubelet, signal) => {
    let certificate = (await filesOf(certDir)) ?? (await ownCertificate(kubelet, clock));
    const server = await startKubeletServer({ kubelet, clock, log, metrics, page, certificate, clientCaPem });
    log.info("kubelet server listening", { port: server.port });
    try {
      for (;;) {
        await clock.sleep(LOOK_MS, signal);
        const found = await filesOf(certDir);
        if (found === undefined || found.certPem === certificate.certPem) continue;
        certificate = found;
        server.renew(found);
        log.info("kubelet server uses a new certificate");
      }
    } catch (error) {
      if (!isAbort(error, signal)) throw error;
    } finally {
      await server.stop();
    }
  };
}

/** The single file that rotation writes is preferred. */
async function filesOf(certDir: string): Promise<KeyPair | undefined> {
  const both = await textOf(join(certDir, "kubelet-server-current.pem"));
  if (both !== undefined) return { certPem: both, keyPem: both };
  const [certPem, keyPem] = [await textOf(join(certDir, "kubelet.crt")), await textOf(join(certDir, "kubelet.key"))];
  return certPem === undefined || keyPem === undefined ? undefined : { certPem, keyPem };
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Self-signed, for the lifetime of the process, as upstream. */
async function ownCertificate({ config }: ServedKubelet, clock: Clock): Promise<KeyPair> {
  const authority = await createAuthority({ commonName: `${config.nodeName}-ca`, clock });
  const { nodeName, nodeIps } = config;
  return authority.issue({ commonName: nodeName, dnsNames: [nodeName], ipAddresses: nodeIps, usages: ["server"] });
}
