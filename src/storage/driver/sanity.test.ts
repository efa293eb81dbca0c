/**
 * What CSI asks of a driver, as one table that both drivers pass: the real one behind its socket, and the one in memory.
 * The rows are those of the public list of checks by which drivers are tested, in our own words, and some more.
 */
import { chownSync, mkdirSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realClock, uuidSource } from "#base";
import type { GrpcServer } from "#grpc";
import { type CsiDriver, openCsiDriver } from "../csi/client.ts";
import { inProcessDriver } from "../csi/in-process.ts";
import { serveCsi } from "../csi/serve.ts";
import { memoryStorage } from "./memory/memory-storage.ts";
import { openLocalDriver } from "./open-local-driver.ts";
import { identityRows } from "./testing/identity-rows.ts";
import type { Kit, Row } from "./testing/kit.ts";
import { removeLeftovers } from "./testing/leftovers.ts";
import { growsMounted, missingForMounts } from "./testing/mounts.ts";
import { startTestNode, type TestNode } from "./testing/node-place.ts";
import { nodeRows } from "./testing/node-rows.ts";
import { groupRows, snapshotRows } from "./testing/snapshot-rows.ts";
import { volumeRows } from "./testing/volume-rows.ts";

const NODE = "node-1";
const tables: Readonly<Record<string, readonly Row[]>> = {
  Identity: identityRows,
  "Controller, volumes": volumeRows,
  "Controller, snapshots": snapshotRows,
  GroupController: groupRows,
  Node: nodeRows,
};

describe("in memory", () => {
  const storage = memoryStorage({ version: "1", clock: realClock(), newId: uuidSource(), nodes: () => [NODE] });
  const driver = { ...storage.controller, Node: storage.node(NODE).Node };
  rowsFor(() => ({ driver, dir: "/volumes", growsMounted: true }), "");
});

describe("on this machine", () => {
  let dir: string;
  let server: GrpcServer;
  let driver: CsiDriver;
  const clock = realClock();

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "csi-"));
    const stateDir = join(dir, "state");
    const local = await openLocalDriver({ nodeId: NODE, stateDir, version: "1", clock, newId: uuidSource() });
    const endpoint = `unix://${join(dir, "csi.sock")}`;
    server = await serveCsi(endpoint, local, { clock, onError: () => {} });
    driver = openCsiDriver(endpoint, { clock });
  });
  afterAll(async () => {
    driver.close();
    await server.close();
    const left = removeLeftovers(dir);
    await rm(dir, { recursive: true });
    expect(left).toEqual([]);
  });
  rowsFor(() => ({ driver, dir, growsMounted: growsMounted() }), missingForMounts());
});

describe("for a node with a user namespace", () => {
  let dir: string;
  let node: TestNode | undefined;
  let driver: CsiDriver | undefined;

  beforeAll(async () => {
    if (missingForMounts() !== "") return;
    dir = await mkdtemp(join(tmpdir(), "csi-"));
    await chmod(dir, 0o755);
    await mkdir(join(dir, "node"));
    node = startTestNode(join(dir, "node"));
    const options = {
      nodeId: NODE,
      stateDir: join(dir, "state"),
      version: "1",
      clock: realClock(),
      newId: uuidSource(),
    };
    driver = inProcessDriver("local:", await openLocalDriver({ ...options, node: node.place }));
  });
  afterAll(async () => {
    if (node === undefined) return;
    const left = node
      .run("cat /proc/self/mountinfo")
      .split("\n")
      .filter((line) => line.includes(dir) && line.includes("/dev/loop"));
    driver?.close();
    node[Symbol.dispose]();
    expect([...left, ...removeLeftovers(dir)]).toEqual([]);
    await rm(dir, { recursive: true });
  });
  rowsFor(
    () => {
      if (node === undefined || driver === undefined) throw new Error(missingForMounts());
      const path = join(dir, "node", "rows");
      return { driver, dir: path, growsMounted: growsMounted(), owner: node.place.rootId };
    },
    missingForMounts(),
    { Node: nodeRows },
  );
});

/** `why`: rows with mounts are skipped for it. */
function rowsFor(
  given: () => Pick<Kit, "driver" | "growsMounted"> & { readonly dir: string; readonly owner?: number },
  why: string,
  asked = tables,
): void {
  let count = 0;
  for (const [service, rows] of Object.entries(asked)) {
    describe(service, () => {
      for (const { name, needsMounts = false, run } of rows) {
        const isSkipped = needsMounts && why !== "";
        it.skipIf(isSkipped)(isSkipped ? `${name}: ${why}` : name, async () => {
          const { driver, dir, growsMounted: grows, owner = 0 } = given();
          const prefix = `row${++count}-`;
          const folder = join(dir, prefix);
          if (dir !== "/volumes") {
            mkdirSync(folder, { recursive: true });
            chownSync(folder, owner, owner);
          }
          const own = { path: (text: string) => join(folder, text), name: (text: string) => prefix + text };
          await run({ driver, nodeId: NODE, growsMounted: grows, ...own });
        });
      }
    });
  }
}
