/**
 * An API server with the kinds of snapshots, the snapshot controller, and the snapshotter of a scripted driver, on
 * virtual time. Every controller has the rights of its own role, and no more.
 */
import { type core, defaultFeatures, type events, kinds } from "#api";
import { Client, inProcess } from "#client";
import { DEFAULT_MODES } from "../../../apiserver/authz/index.ts";
import { type TestServer, testServer } from "../../../apiserver/testing/index.ts";
import { ensureRoles } from "../../../controllers/testing/identities.ts";
import { type TestControllers, testControllers } from "../../../controllers/testing/index.ts";
import { type DriverControllers, oneForAll } from "../../sidecars/driver-controllers.ts";
import { contentController, snapshotController } from "../controller/snapshot-controller.ts";
import { groupContentController, groupController } from "../groups/group-controller.ts";
import { groupKinds, type VolumeGroupSnapshot } from "../objects/group-kinds.ts";
import { snapshotKinds, type VolumeSnapshot, type VolumeSnapshotContent } from "../objects/kinds.ts";
import { installSnapshots } from "../run/install.ts";
import { contentSnapshotter, groupContentSnapshotter } from "../sidecar/content-snapshotter.ts";
import type { SnapshotterOptions } from "../sidecar/options.ts";
import { type ScriptedController, scriptedController } from "./scripted-controller.ts";

export const DRIVER = "local.csi.k8ts.dev";

export interface SnapshotCluster extends TestControllers {
  readonly driver: ScriptedController;
  /** A bound claim of the driver's volume `vol-NAME`. */
  claim(name: string, more?: ClaimOptions): Promise<void>;
  snapshot(name: string, spec: VolumeSnapshot["spec"]): Promise<VolumeSnapshot>;
  content(name: string, spec: VolumeSnapshotContent["spec"]): Promise<VolumeSnapshotContent>;
  /** Undefined if it is gone. */
  get(name: string): Promise<VolumeSnapshot | undefined>;
  contentOf(name: string): Promise<VolumeSnapshotContent | undefined>;
  onlyContent(): Promise<VolumeSnapshotContent>;
  contents(): Promise<readonly VolumeSnapshotContent[]>;
  /** `reason: note`, in order, without repetitions. */
  events(): Promise<readonly string[]>;
  remove(name: string): Promise<void>;
  /** Stops the controllers, and starts others. */
  restart(): Promise<void>;
}

export interface ClaimOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly node?: string;
  readonly driver?: string;
}

type Handle = TestServer["handle"];

export interface ClusterOptions extends Partial<SnapshotterOptions> {
  /** What the controllers reach the server through; called for each set of them. */
  readonly wrap?: (handle: Handle) => Handle;
  readonly drivers?: (driver: ScriptedController) => DriverControllers;
}

export async function snapshotCluster({
  drivers,
  wrap = (handle) => handle,
  ...rest
}: ClusterOptions = {}): Promise<SnapshotCluster> {
  const server = await testServer({ modes: DEFAULT_MODES });
  await ensureRoles(server, defaultFeatures.enabled);
  const user = { name: "admin", groups: ["system:masters"] };
  const admin = new Client({ transport: inProcess(server.handle, user), clock: server.clock });
  await installSnapshots(admin, DRIVER, new AbortController().signal);
  const driver = scriptedController({ clock: server.clock });
  const controllers = drivers?.(driver) ?? oneForAll(DRIVER, driver.driver);
  const snapshotter: SnapshotterOptions = { ...rest, controllers };
  const all = [
    snapshotController({ groups: true }),
    contentController(),
    groupController(),
    groupContentController(),
    contentSnapshotter(snapshotter),
    groupContentSnapshotter(snapshotter),
  ];
  const started = () => testControllers(all, { server: { ...server, handle: wrap(server.handle) }, rights: "roles" });
  const cluster = await started();
  let successor: TestControllers | undefined;
  const { client } = cluster;
  const { VolumeSnapshot: Snapshot, VolumeSnapshotContent: Content } = snapshotKinds;
  const snapshots = client.of(Snapshot).in("default");
  const contents = client.of(Content);
  const settled = async <T>(made: Promise<T>): Promise<T> => {
    const result = await made;
    await cluster.settle();
    return result;
  };
  return {
    ...cluster,
    driver,
    claim: (name, options) => boundClaim(client, name, options),
    snapshot: (name, spec) => {
      const { apiVersion, kind } = Snapshot;
      return settled(snapshots.create({ apiVersion, kind, metadata: { name }, spec }));
    },
    content: (name, spec) => {
      const { apiVersion, kind } = Content;
      return settled(contents.create({ apiVersion, kind, metadata: { name }, spec }));
    },
    get: async (name) => (await snapshots.list()).items.find((each) => each.metadata.name === name),
    contentOf: async (name) => (await contents.list()).items.find((each) => each.metadata.name === name),
    onlyContent: async () => {
      const { items } = await contents.list();
      const [only, ...others] = items;
      if (only === undefined || others.length > 0) throw new Error(`expected one content, found ${items.length}`);
      return only;
    },
    contents: async () => (await contents.list()).items,
    events: async () => (await client.of(kinds.Event).list()).items.toSorted(byTime).map(eventText),
    remove: async (name) => {
      await settled(snapshots.delete(name));
    },
    restart: async () => {
      await cluster.stop();
      successor = await started();
    },
    close: async () => {
      await successor?.close();
      await cluster.close();
      await admin.close();
      await server.close();
    },
  };
}

function byTime(a: events.Event, b: events.Event): number {
  return Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion);
}

function eventText({ reason, note }: events.Event): string {
  return `${reason}: ${note}`;
}

async function boundClaim(client: Client, name: string, options: ClaimOptions = {}): Promise<void> {
  const { labels = {}, node, driver = DRIVER } = options;
  const both = { accessModes: ["ReadWriteOnce"] as const, storageClassName: "" };
  const volumes = client.of(kinds.PersistentVolume);
  const claims = client.of(kinds.PersistentVolumeClaim).in("default");
  const volumeName = `pv-${name}`;
  const requests = { storage: "1Gi" };
  const claim = await claims.create({
    metadata: { name, labels },
    spec: { ...both, volumeName, resources: { requests } },
  });
  await volumes.create({
    metadata: { name: volumeName },
    spec: {
      ...both,
      capacity: requests,
      persistentVolumeReclaimPolicy: "Retain",
      csi: { driver, volumeHandle: `vol-${name}` },
      claimRef: { namespace: "default", name, uid: claim.metadata.uid ?? "" },
      ...(node !== undefined && { nodeAffinity: { required: onNode(node) } }),
    },
  });
  await claims.updateStatus({ ...claim, status: { phase: "Bound", capacity: requests } });
}

export const TOPOLOGY_KEY = `topology.${DRIVER}/node`;

function onNode(node: string): core.NodeSelector {
  const matchExpressions = [{ key: TOPOLOGY_KEY, operator: "In" as const, values: [node] }];
  return { nodeSelectorTerms: [{ matchExpressions }] };
}

export async function groupSnapshot(
  { client, settle }: SnapshotCluster,
  name: string,
  spec: VolumeGroupSnapshot["spec"],
): Promise<void> {
  const { apiVersion, kind } = groupKinds.VolumeGroupSnapshot;
  const groups = client.of(groupKinds.VolumeGroupSnapshot).in("default");
  await groups.create({ apiVersion, kind, metadata: { name }, spec });
  await settle();
}
