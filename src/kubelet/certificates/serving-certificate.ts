/**
 * The serving certificate of the kubelet's server, issued by the cluster: requested if there is no valid one, and
 * renewed before it expires. An administrator has to approve it: the cluster cannot verify the names that a node asks
 * for.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, isAbort, type Logger, type Random } from "#base";
import type { Client } from "#client";
import type { ServerNames } from "#pki";
import type { CertificateMetrics } from "./certificate-metrics.ts";
import { nodeCertificate, requestCertificate } from "./request-certificate.ts";
import { isExpired, renewalTime } from "./rotation.ts";

/** Certificate and key in one file, as the kubelet's server reads it. */
export const SERVING_FILE = "kubelet-server-current.pem";
const RETRY_MS = 5000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface ServingCertificateOptions {
  readonly client: Client;
  readonly nodeName: string;
  readonly names: ServerNames;
  readonly certDir: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics?: CertificateMetrics | undefined;
}

/** Until the signal aborts. */
export async function keepServingCertificate(options: ServingCertificateOptions, signal: AbortSignal): Promise<void> {
  const { client, nodeName, names, certDir, clock, random, log, metrics } = options;
  const file = join(certDir, SERVING_FILE);
  await mkdir(certDir, { recursive: true, mode: 0o700 });
  let current = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  for (;;) {
    if (current !== undefined && !isExpired(current, clock.now())) {
      metrics?.issued(current);
      const dueMs = renewalTime(current, random);
      while (clock.now() < dueMs) await clock.sleep(Math.min(LONGEST_TIMER_MS, dueMs - clock.now()), signal);
    }
    try {
      const { certPem, keyPem } = await requestCertificate(client, nodeCertificate(nodeName, names), signal);
      current = `${certPem.trimEnd()}\n${keyPem}`;
      await writeFile(`${file}.new`, current, { mode: 0o600 });
      await rename(`${file}.new`, file);
      log.info("serving certificate issued", { node: nodeName });
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      metrics?.failed();
      log.warn("serving certificate not issued yet", { error });
      await clock.sleep(RETRY_MS, signal);
    }
  }
}
