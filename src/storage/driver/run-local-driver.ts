/**
 * The driver as a process of a node.
 *
 *     lock on the state ──► put in order ──► serve ──► register with the kubelet ··· until the signal aborts
 *
 * 1. One process has the state of a node: another one waits for nothing and ends.
 */
import { chown, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { acquireFileLock, type Logger, whenAborted } from "#base";
import { socketPath } from "#grpc";
import { registrationSocket, serveRegistration } from "../csi/registration.ts";
import { serveCsi } from "../csi/serve.ts";
import { type LocalDriverOptions, openLocalDriver } from "./open-local-driver.ts";
import { DRIVER_NAME } from "./rules/names.ts";

export interface RunDriverOptions extends LocalDriverOptions {
  /** unix:///… */
  readonly endpoint: string;
  /** The kubelet's folder for plugins. Undefined: somebody else registers the driver. */
  readonly registrationDir?: string | undefined;
  /** The socket as the kubelet sees it. Default: as it is here. */
  readonly kubeletRegistrationPath?: string | undefined;
  readonly log: Logger;
}

export async function runLocalDriver(options: RunDriverOptions, signal: AbortSignal): Promise<void> {
  const { endpoint, stateDir, registrationDir, clock, log, node, nodeId } = options;
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const lock = acquireFileLock(join(stateDir, "lock"), { holder: `process ${process.pid}` });
  if ("heldBy" in lock) throw new Error(`${stateDir} is in use by ${lock.heldBy}`);
  try {
    const driver = await openLocalDriver(options);
    const socket = socketPath(endpoint);
    await mkdir(dirname(socket), { recursive: true, mode: 0o750 });
    const serving = { clock, onError: (path: string, error: unknown) => log.error("call failed", { path, error }) };
    const servers = [await serveCsi(endpoint, driver, serving)];
    log.info("driver is serving", { driver: DRIVER_NAME, node: nodeId, socket });
    try {
      if (registrationDir !== undefined) {
        const as = { dir: registrationDir, driver: DRIVER_NAME, endpoint: options.kubeletRegistrationPath ?? socket };
        const onStatus = (problem: string) => {
          if (problem === "") log.info("the kubelet has registered the driver");
          else log.warn("the kubelet has not registered the driver", { reason: problem });
        };
        servers.push(await serveRegistration({ ...serving, ...as, onStatus }));
      }
      // The kubelet is root of its node only.
      if (node !== undefined)
        for (const path of [
          socket,
          ...(registrationDir === undefined ? [] : [registrationSocket(registrationDir, DRIVER_NAME)]),
        ])
          await chown(path, node.rootId, node.rootId);
      await new Promise<void>((resolve) => whenAborted(signal, resolve));
    } finally {
      for (const server of servers.toReversed()) await server.close();
    }
  } finally {
    lock.release();
  }
}
