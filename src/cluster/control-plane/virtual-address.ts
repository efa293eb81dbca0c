/** The virtual address of the API servers, on this control plane. Loaded only with `--virtual-address`. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { kinds } from "#api";
import type { Clock, Logger, Random } from "#base";
import { Client, type InProcessHandle, inProcess } from "#client";
import { linkOf, readyzCheck, runProgram, runVirtualAddress } from "#network";
import type { ListenConfig } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";

const USER = { name: "k8ts-virtual-address", groups: ["system:masters", "system:authenticated"] };

export interface VirtualAddressPart {
  readonly listen: ListenConfig & { readonly virtualAddress: string };
  /** Of the API server of this process, on loopback. */
  readonly url: string;
  readonly handle: InProcessHandle;
  readonly openAt: (address: string) => Promise<() => Promise<void>>;
  readonly caPem: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Until the signal aborts. */
export async function keepVirtualAddress(part: VirtualAddressPart, signal: AbortSignal): Promise<void> {
  const { listen, url, handle, openAt, caPem, clock } = part;
  const link = await linkOf(listen.address, runProgram, signal);
  if (link === undefined) throw new ClusterError(`No link of this machine has the address ${listen.address}.`);
  const client = new Client({ transport: inProcess(handle, USER), clock, userAgent: USER.name });
  const check = readyzCheck({ caPem, clock });
  try {
    await runVirtualAddress(
      {
        ...part,
        ...{ address: listen.virtualAddress, link, run: runProgram, open: openAt },
        leases: client.of(kinds.Lease).in("kube-system"),
        identity: `${hostname()}_${randomUUID()}`,
        isHealthy: async (asking) => (await check(new URL(url).host, asking)) === "ready",
      },
      signal,
    );
  } finally {
    await client.close();
  }
}
