/** The server beside a running kubelet, with its certificate from files: what `runKubelet` takes as `serve`. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, isAbort, type Logger, type MetricsRegistry } from "#base";
import { createAuthority, type KeyPair } from "#pki";
import type { ServedKubelet } from "./served.ts";
import { startKubeletServer } from "./server.ts";

const LOOK_MS = 10_000;

export interface ServeOptions {
  /** kubelet.crt and kubelet.key, or kubelet-server-current.pem: made by somebody else. Without them the kubelet makes its own. */
  readonly certDir: string;
  readonly clientCaPem: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

export function serveKubelet(options: ServeOptions): (kubelet: ServedKubelet, signal: AbortSignal) => Promise<void> {
  const { certDir, clientCaPem, clock, log, metrics } = options;
  return async (kubelet, signal) => {
    let certificate = (await filesOf(certDir)) ?? (await ownCertificate(kubelet, clock));
    const server = await startKubeletServer({ kubelet, clock, log, metrics, certificate, clientCaPem });
    log.info("the kubelet's server listens", { port: server.port });
    try {
      for (;;) {
        await clock.sleep(LOOK_MS, signal);
        const found = await filesOf(certDir);
        if (found === undefined || found.certPem === certificate.certPem) continue;
        certificate = found;
        server.renew(found);
        log.info("the kubelet's server uses its new certificate");
      }
    } catch (error) {
      if (!isAbort(error, signal)) throw error;
    } finally {
      await server.stop();
    }
  };
}

/** One file, as rotation leaves it, goes before the two. */
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

/** For as long as the process lives, as the original does it. */
async function ownCertificate({ config }: ServedKubelet, clock: Clock): Promise<KeyPair> {
  const authority = await createAuthority({ commonName: `${config.nodeName}-ca`, clock });
  const { nodeName, nodeIps } = config;
  return authority.issue({ commonName: nodeName, dnsNames: [nodeName], ipAddresses: nodeIps, usages: ["server"] });
}
