/** etcd/member.json: who the member of this machine is. Its addresses are part of the membership, so they stay. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Joining } from "#store";
import { ClusterError } from "../config/errors.ts";
import { writeFileAtomic } from "../data/data-dir.ts";

export interface MemberRecord {
  readonly name: string;
  /** Where the other members reach it. */
  readonly address: string;
  readonly clientPort: number;
  readonly peerPort: number;
  /** As etcd's flags; only its first start looks at them. */
  readonly initialCluster: string;
  readonly initialClusterState: "new" | "existing";
  /** URLs of the members by which it joined: a learner answers no questions about members itself. */
  readonly others?: readonly string[] | undefined;
}

/** Of the member; `record` is its file. */
export interface MemberPaths {
  readonly record: string;
  readonly data: string;
  readonly log: string;
  readonly program: string;
}

const CLIENT_PORT = 2379;
const PEER_PORT = 2380;

export function memberPaths(dir: string): MemberPaths {
  return {
    record: join(dir, "member.json"),
    data: join(dir, "data"),
    log: join(dir, "etcd.log"),
    program: join(dir, "program"),
  };
}

export async function readMember({ record }: MemberPaths): Promise<MemberRecord | undefined> {
  const text = await readFile(record, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new ClusterError(`${record} cannot be read: ${error.message}.`, { cause: error });
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as MemberRecord;
  } catch (cause) {
    throw new ClusterError(`${record} is damaged: put back a copy of it, or start anew with \`k8ts reset\`.`, {
      cause,
    });
  }
}

export async function writeMember(paths: MemberPaths, record: MemberRecord): Promise<void> {
  await writeFileAtomic(paths.record, `${JSON.stringify(record, undefined, 2)}\n`);
}

/** etcd's own ports where they are free. */
export async function newMember(name: string, address: string): Promise<MemberRecord> {
  const clientPort = await freePort(CLIENT_PORT, address);
  const peerPort = await freePort(PEER_PORT, address, clientPort);
  const initialCluster = `${name}=${urlOf(address, peerPort)}`;
  return { name, address, clientPort, peerPort, initialCluster, initialClusterState: "new" };
}

export function joiningMember(
  record: MemberRecord,
  { initialCluster }: Joining,
  others: readonly string[],
): MemberRecord {
  return { ...record, initialCluster, initialClusterState: "existing", others };
}

export function urlOf(address: string, port: number): string {
  return `https://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** The wanted one if it is free on the address and on loopback, else another. */
async function freePort(wanted: number, address: string, taken?: number): Promise<number> {
  for (const port of [wanted, 0, 0, 0, 0]) {
    const found = await bound(port, address);
    if (found !== undefined && found !== taken && (await bound(found, "127.0.0.1")) !== undefined) return found;
  }
  throw new ClusterError(`No port for etcd is free on ${address}: is the address one of this machine's?`);
}

async function bound(port: number, host: string): Promise<number | undefined> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  server.once("error", () => resolve(undefined));
  server.listen({ port, host }, () => {
    const address = server.address();
    const found = typeof address === "object" && address !== null ? address.port : undefined;
    server.close(() => resolve(found));
  });
  return promise;
}
