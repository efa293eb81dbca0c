/**
 * Snapshots as a user sees them: kubectl against `bin/k8ts up`, the snapshot controller and the snapshotter with their
 * own accounts over HTTPS, and a scripted CSI driver in this process.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MetricsRegistry, realClock, silentLogger, systemRandom, TaskGroup } from "#base";
import { Client, https } from "#client";
import { controllerMetrics } from "#controllers";
import { readKubeconfig } from "#pki";
import {
  CONTROLLER_ACCOUNT,
  installSnapshots,
  oneForAll,
  runSnapshotController,
  runSnapshotter,
  SNAPSHOTTER_ACCOUNT,
} from "#storage";
import {
  type ScriptedController,
  scriptedController,
} from "../../src/storage/snapshots/testing/scripted-controller.ts";
import { Home } from "../support/k8ts.ts";
import { CommandLine, tool } from "../support/tools.ts";

const DRIVER = "example.com";
const program = tool("kubectl");
let home: Home;
const kubectl = new CommandLine(program, () => home);
const clock = realClock();
const tasks = new TaskGroup();
const clients: Client[] = [];
let driver: ScriptedController;
const WITHIN = { timeout: 30_000, interval: 100 };

beforeAll(async () => {
  if (program === undefined) return;
  home = new Home();
  const up = await home.k8ts("up", "--store", "memory", "--port", "0", "--nodes", "0", "--detach");
  if (up.code !== 0) throw new Error(up.stderr);
  const { client: admin = {}, ...connection } = await readKubeconfig(home.kubeconfig);
  const clientOf = (credentials: object) => {
    const client = new Client({ transport: https({ ...connection, ...credentials }, { clock }), clock });
    clients.push(client);
    return client;
  };
  const { signal } = new AbortController();
  await installSnapshots(clientOf(admin), DRIVER, signal);
  const token = async (account: string) => ({
    token: (await kubectl.ok("create", "token", account, "-n", "kube-system")).trim(),
  });
  driver = scriptedController({ clock });
  const metrics = controllerMetrics(new MetricsRegistry());
  const shared = { instance: "test", clock, random: systemRandom(), log: silentLogger, metrics, elects: true };
  const snapshotter = { controllers: oneForAll(DRIVER, driver.driver) };
  const [controllerClient, snapshotterClient] = [
    clientOf(await token(CONTROLLER_ACCOUNT)),
    clientOf(await token(SNAPSHOTTER_ACCOUNT)),
  ];
  tasks.run("controller", (running) => runSnapshotController({ ...shared, client: controllerClient }, running));
  tasks.run("snapshotter", (running) => runSnapshotter({ ...shared, client: snapshotterClient, snapshotter }, running));
}, 120_000);

afterAll(async () => {
  await tasks.stop();
  for (const client of clients) await client.close();
  await home?.[Symbol.asyncDispose]();
});

const storage = { storage: "1Gi" };
const volume = {
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "pv-data" },
  spec: {
    capacity: storage,
    accessModes: ["ReadWriteOnce"],
    storageClassName: "",
    persistentVolumeReclaimPolicy: "Retain",
    csi: { driver: DRIVER, volumeHandle: "vol-data" },
    claimRef: { namespace: "default", name: "data" },
  },
};
const claim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data" },
  spec: {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "",
    volumeName: "pv-data",
    resources: { requests: storage },
  },
};
const snapshot = (name: string, source: object, more: object = {}) => ({
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshot",
  metadata: { name },
  spec: { source, ...more },
});
const given = {
  apiVersion: "snapshot.storage.k8s.io/v1",
  kind: "VolumeSnapshotContent",
  metadata: { name: "given" },
  spec: {
    deletionPolicy: "Retain",
    driver: DRIVER,
    source: { snapshotHandle: "snap-old" },
    volumeSnapshotRef: { namespace: "default", name: "imported" },
  },
};

const ready = (name: string) => kubectl.ok("get", "vs", name, "-o", "jsonpath={.status.readyToUse}");

describe.skipIf(program === undefined)("snapshots (needs kubectl)", () => {
  it("a claim is snapshot with the default class, shown, and deleted with its snapshot", {
    timeout: 60_000,
  }, async () => {
    expect(await kubectl.ok("get", "vsclass")).toMatch(
      /NAME +DRIVER +DELETIONPOLICY +AGE\nstandard +example\.com +Delete/,
    );
    await kubectl.given(volume).ok("create", "-f", "-");
    await kubectl.given(claim).ok("create", "-f", "-");
    await kubectl.ok("wait", "pvc/data", "--for=jsonpath={.status.phase}=Bound", "--timeout=30s");
    await kubectl.given(snapshot("snap", { persistentVolumeClaimName: "data" })).ok("create", "-f", "-");
    await kubectl.ok("wait", "vs/snap", "--for=jsonpath={.status.readyToUse}=true", "--timeout=30s");
    expect(await kubectl.ok("get", "volumesnapshots")).toMatch(
      /NAME +READYTOUSE +SOURCEPVC +SOURCESNAPSHOTCONTENT +RESTORESIZE +SNAPSHOTCLASS +SNAPSHOTCONTENT +CREATIONTIME +AGE\nsnap +true +data +1Gi +standard +snapcontent-\S+ +\d+s +\d+s/,
    );
    expect(await kubectl.ok("get", "vsc")).toMatch(
      /snapcontent-\S+ +true +1073741824 +Delete +example\.com +standard +snap +default/,
    );
    const described = await kubectl.ok("describe", "vs", "snap");
    expect(described).toContain("Waiting for a snapshot default/snap to be created by the CSI driver.");
    expect(described).toContain("Snapshot default/snap is ready to use.");
    expect(driver.snapshots.size).toBe(1);
    await kubectl.ok("delete", "vs", "snap", "--timeout=30s");
    expect(await kubectl.ok("get", "vsc", "-o", "name")).toBe("");
    expect(driver.snapshots.size).toBe(0);
  });

  it("a snapshot that exists is imported, and kept by its policy", { timeout: 60_000 }, async () => {
    await driver.driver.Controller.CreateSnapshot({ name: "old", sourceVolumeId: "vol-data" });
    await kubectl.given(given).ok("create", "-f", "-");
    await kubectl.given(snapshot("imported", { volumeSnapshotContentName: "given" })).ok("create", "-f", "-");
    await expect.poll(() => ready("imported"), WITHIN).toBe("true");
    await kubectl.ok("delete", "vs", "imported", "--timeout=30s");
    expect(await kubectl.ok("get", "vsc", "-o", "name")).toContain("given");
    expect(driver.snapshots.size).toBe(1);
  });

  it("what is wrong is refused or explained", { timeout: 60_000 }, async () => {
    const refused = await kubectl.given(snapshot("none", {})).fails("create", "-f", "-");
    expect(refused).toContain("exactly one of volumeSnapshotContentName and persistentVolumeClaimName must be set");
    const unclassed = snapshot("unclassed", { persistentVolumeClaimName: "data" }, { volumeSnapshotClassName: "fast" });
    await kubectl.given(unclassed).ok("create", "-f", "-");
    await expect
      .poll(() => kubectl.ok("describe", "vs", "unclassed"), WITHIN)
      .toContain(
        'Failed to get snapshot class with error volumesnapshotclass.snapshot.storage.k8s.io "fast" not found',
      );
    expect(await kubectl.ok("explain", "volumesnapshot.spec.source")).toContain("persistentVolumeClaimName");
  });

  it("the leases have upstream's names", async () => {
    const names = await kubectl.ok("get", "leases", "-n", "kube-system", "-o", "name");
    expect(names).toContain("snapshot-controller-leader");
    expect(names).toContain("external-snapshotter-leader-example-com");
  });
});
