/**
 * A CSI driver in memory for tests of its controllers: volumes are entries of a map, every call is recorded, and any
 * call can be scripted to fail. Without sockets and timers, so that it works on virtual time.
 */
import { GrpcError } from "#grpc";
import {
  ControllerRpc,
  type CsiDriver,
  type CsiHandlers,
  type CsiReceived,
  type CsiSent,
  PluginService,
  VolumeExpansion,
} from "../../csi/index.ts";
import type { DriverControllers } from "../driver-controllers.ts";

export interface ScriptedVolume {
  readonly name: string;
  capacityBytes: bigint;
  readonly segments: Readonly<Record<string, string>> | undefined;
  publishedTo: string[];
  parameters: Readonly<Record<string, string>>;
  condition: CsiSent<"VolumeCondition"> | undefined;
}

export interface ScriptedOptions {
  readonly name?: string | undefined;
  /** The node that the driver is on, and its topology key. */
  readonly node?: { readonly key: string; readonly name: string } | undefined;
  readonly rpcs?: readonly (keyof typeof ControllerRpc)[] | undefined;
  readonly capacityBytes?: bigint | undefined;
}

export interface ScriptedDriver {
  readonly driver: CsiDriver;
  readonly volumes: Map<string, ScriptedVolume>;
  /** Method and volume id or name of each call so far. */
  readonly calls: readonly { readonly method: string; readonly request: Record<string, unknown> }[];
  called(method: string): number;
  /** Each call of the method throws what this returns, or succeeds if it is undefined. */
  fail(method: string, why: (request: Record<string, unknown>) => unknown): void;
}

const GIB = 2n ** 30n;
const ALL_RPCS: readonly (keyof typeof ControllerRpc)[] = [
  "CREATE_DELETE_VOLUME",
  "PUBLISH_UNPUBLISH_VOLUME",
  "LIST_VOLUMES",
  "GET_CAPACITY",
  "CREATE_DELETE_SNAPSHOT",
  "CLONE_VOLUME",
  "EXPAND_VOLUME",
  "LIST_VOLUMES_PUBLISHED_NODES",
  "VOLUME_CONDITION",
  "GET_VOLUME",
  "SINGLE_NODE_MULTI_WRITER",
  "MODIFY_VOLUME",
];

type Answers = Partial<CsiHandlers<"Controller">> & Partial<CsiHandlers<"Identity">>;

export function scriptedDriver(options: ScriptedOptions = {}): ScriptedDriver {
  const { name = "example.com", node, rpcs = ALL_RPCS, capacityBytes = 100n * GIB } = options;
  const volumes = new Map<string, ScriptedVolume>();
  const calls: { method: string; request: Record<string, unknown> }[] = [];
  const failures = new Map<string, (request: Record<string, unknown>) => unknown>();
  const topology = node && { segments: { [node.key]: node.name } };
  const found = (id: string): ScriptedVolume => {
    const volume = volumes.get(id);
    if (volume === undefined) throw new GrpcError("NOT_FOUND", `volume ${id} does not exist`);
    return volume;
  };
  const used = () => [...volumes.values()].reduce((sum, volume) => sum + volume.capacityBytes, 0n);
  const statusOf = (volume: ScriptedVolume) => ({
    publishedNodeIds: volume.publishedTo,
    ...(volume.condition && { volumeCondition: volume.condition }),
  });

  const answers: Answers = {
    GetPluginInfo: async () => ({ name, vendorVersion: "1" }),
    GetPluginCapabilities: async () => ({
      capabilities: [
        { service: { type: PluginService.CONTROLLER_SERVICE } },
        ...(node === undefined ? [] : [{ service: { type: PluginService.VOLUME_ACCESSIBILITY_CONSTRAINTS } }]),
        { volumeExpansion: { type: VolumeExpansion.ONLINE } },
      ],
    }),
    ControllerGetCapabilities: async () => ({
      capabilities: rpcs.map((rpc) => ({ rpc: { type: ControllerRpc[rpc] } })),
    }),
    CreateVolume: async (request) => {
      const [, known] = [...volumes].find(([, volume]) => volume.name === request.name) ?? [];
      const wantedBytes = BigInt(request.capacityRange?.requiredBytes ?? 0);
      if (known === undefined && used() + wantedBytes > capacityBytes)
        throw new GrpcError("RESOURCE_EXHAUSTED", "not enough space");
      const id = `id-of-${request.name}`;
      const volume = known ?? {
        name: request.name,
        capacityBytes: wantedBytes,
        segments: topology?.segments,
        publishedTo: [],
        parameters: request.parameters,
        condition: undefined,
      };
      volumes.set(id, volume);
      return {
        volume: {
          volumeId: id,
          capacityBytes: volume.capacityBytes.toString(),
          volumeContext: { made: "scripted" },
          ...(request.volumeContentSource && { contentSource: request.volumeContentSource }),
          accessibleTopology: topology === undefined ? [] : [topology],
        },
      };
    },
    DeleteVolume: async ({ volumeId }) => {
      volumes.delete(volumeId);
      return {};
    },
    ControllerPublishVolume: async ({ volumeId, nodeId }) => {
      const volume = found(volumeId);
      if (volume.publishedTo.some((other) => other !== nodeId))
        throw new GrpcError("FAILED_PRECONDITION", `volume ${volumeId} is published to ${volume.publishedTo.join()}`);
      volume.publishedTo = [nodeId];
      return { publishContext: { device: `/dev/${volumeId}` } };
    },
    ControllerUnpublishVolume: async ({ volumeId, nodeId }) => {
      const volume = volumes.get(volumeId);
      if (volume !== undefined) volume.publishedTo = volume.publishedTo.filter((other) => other !== nodeId);
      return {};
    },
    ControllerExpandVolume: async ({ volumeId, capacityRange, volumeCapability }) => {
      const volume = found(volumeId);
      const wantedBytes = BigInt(capacityRange?.requiredBytes ?? 0);
      if (wantedBytes > volume.capacityBytes) volume.capacityBytes = wantedBytes;
      return {
        capacityBytes: volume.capacityBytes.toString(),
        nodeExpansionRequired: (volumeCapability?.block ?? null) === null,
      };
    },
    ControllerModifyVolume: async ({ volumeId, mutableParameters }) => {
      const volume = found(volumeId);
      volume.parameters = { ...volume.parameters, ...mutableParameters };
      return {};
    },
    GetCapacity: async () => ({ availableCapacity: (capacityBytes - used()).toString() }),
    ListVolumes: async () => ({
      entries: [...volumes].map(([volumeId, volume]) => ({
        volume: { volumeId, capacityBytes: volume.capacityBytes.toString() },
        status: statusOf(volume),
      })),
    }),
    ControllerGetVolume: async ({ volumeId }) => ({ volume: { volumeId }, status: statusOf(found(volumeId)) }),
  };

  const service = () =>
    new Proxy(
      {},
      {
        get: (_, method: string) => async (request: Record<string, unknown>) => {
          calls.push({ method, request });
          const failure = failures.get(method)?.(request);
          if (failure !== undefined) throw failure;
          const answer = (answers as Record<string, ((request: unknown) => Promise<object>) | undefined>)[method];
          if (answer === undefined) throw new GrpcError("UNIMPLEMENTED", method);
          return received(await answer({ parameters: {}, mutableParameters: {}, ...request }));
        },
      },
    );
  const driver = {
    endpoint: "scripted",
    close: () => {},
    Identity: service(),
    Controller: service(),
    GroupController: service(),
    SnapshotMetadata: service(),
    Node: service(),
  } as unknown as CsiDriver;
  return {
    driver,
    volumes,
    calls,
    called: (method) => calls.filter((call) => call.method === method).length,
    fail: (method, why) => {
      failures.set(method, why);
    },
  };
}

/** Absent fields as a receiver sees them, as far as sidecars look at them. */
function received(answer: object): unknown {
  const { volume, entries } = answer as {
    volume?: Partial<CsiReceived<"Volume">>;
    entries?: readonly { status?: object }[];
  };
  const withStatus = (status: object | undefined) =>
    status && { publishedNodeIds: [], volumeCondition: null, ...status };
  return {
    nextToken: "",
    maximumVolumeSize: null,
    minimumVolumeSize: null,
    ...answer,
    ...(volume && { volume: { contentSource: null, accessibleTopology: [], volumeContext: {}, ...volume } }),
    ...(entries && { entries: entries.map((entry) => ({ ...entry, status: withStatus(entry.status) })) }),
    ...("status" in answer && { status: withStatus(answer.status as object) }),
  };
}

/** A driver with a controller on each node; nodes can be taken away and brought back. */
export function onEachNode(driverName: string, nodeTopologyKey: string, drivers: Map<string, ScriptedDriver>) {
  const away = new Set<string>();
  const listeners = new Set<() => void>();
  const controllers: DriverControllers = {
    driverName,
    nodeTopologyKey,
    nodes: () => [...drivers.keys()].filter((node) => !away.has(node)),
    of: (node) => (node === undefined || away.has(node) ? undefined : drivers.get(node)?.driver),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return {
    controllers,
    setAway(node: string, isAway: boolean) {
      if (isAway) away.add(node);
      else away.delete(node);
      for (const listener of listeners) listener();
    },
  };
}
