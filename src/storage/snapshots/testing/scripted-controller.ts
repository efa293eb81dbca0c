/**
 * A CSI controller in process, for tests: it keeps snapshots in memory, counts its calls, and fails, hangs or answers
 * garbage when it is told to.
 */
import type { Clock } from "#base";
import { GrpcError } from "#grpc";
import { ControllerRpc, type CsiDriver, GroupControllerRpc } from "../../csi/index.ts";

interface Kept {
  readonly snapshotId: string;
  readonly sourceVolumeId: string;
  readonly seconds: number;
  groupSnapshotId: string;
  readyToUse: boolean;
}

type Request = Readonly<Record<string, unknown>>;
type Handler = (request: Request, options: { readonly signal?: AbortSignal } | undefined) => unknown;

export interface ScriptedController {
  readonly driver: CsiDriver;
  /** By name. */
  readonly snapshots: Map<string, Kept>;
  /** The methods that were called, in order. */
  readonly calls: { readonly method: string; readonly request: Request }[];
  /** Replaces a method; undefined: as before. */
  script(method: string, handler: Handler | undefined): void;
  /** New snapshots are ready at once. Default: true. */
  readyAtOnce: boolean;
  capabilities: readonly number[];
}

export interface ScriptedOptions {
  readonly clock: Clock;
  /** In the ids of snapshots. Default: none. */
  readonly node?: string;
}

export function scriptedController({ clock, node = "" }: ScriptedOptions): ScriptedController {
  const snapshots = new Map<string, Kept>();
  const calls: { method: string; request: Request }[] = [];
  const scripts = new Map<string, Handler>();
  const answerOf = (kept: Kept) => ({
    ...kept,
    sizeBytes: "1073741824",
    creationTime: { seconds: String(kept.seconds), nanos: 0 },
  });
  const kept = (name: string, sourceVolumeId: string, groupSnapshotId = ""): Kept => {
    const seconds = Math.floor(clock.now() / 1000);
    const made = snapshots.get(name) ?? {
      snapshotId: `${node}snap-${name}`,
      ...{ sourceVolumeId, seconds, groupSnapshotId, readyToUse: scripted.readyAtOnce },
    };
    snapshots.set(name, made);
    return made;
  };
  const byId = (id: unknown) => [...snapshots].find(([, { snapshotId }]) => snapshotId === id);
  const group = (groupSnapshotId: string) => {
    const members = [...snapshots.values()].filter((each) => each.groupSnapshotId === groupSnapshotId);
    const seconds = String(members[0]?.seconds ?? 0);
    const readyToUse = members.every((each) => each.readyToUse);
    return { groupSnapshotId, snapshots: members.map(answerOf), creationTime: { seconds, nanos: 0 }, readyToUse };
  };
  const own: Record<string, Handler> = {
    ControllerGetCapabilities: () => ({ capabilities: scripted.capabilities.map((type) => ({ rpc: { type } })) }),
    CreateSnapshot: ({ name, sourceVolumeId }) => ({ snapshot: answerOf(kept(String(name), String(sourceVolumeId))) }),
    DeleteSnapshot: ({ snapshotId }) => {
      const [name] = byId(snapshotId) ?? [];
      if (name !== undefined) snapshots.delete(name);
      return {};
    },
    GetSnapshot: ({ snapshotId }) => {
      const [, found] = byId(snapshotId) ?? [];
      if (found === undefined) throw new GrpcError("NOT_FOUND", `there is no snapshot ${snapshotId}`);
      return { snapshot: answerOf(found) };
    },
    ListSnapshots: ({ snapshotId }) => {
      const [, found] = byId(snapshotId) ?? [];
      return { entries: found === undefined ? [] : [{ snapshot: answerOf(found) }], nextToken: "" };
    },
    GroupControllerGetCapabilities: () => ({
      capabilities: [{ rpc: { type: GroupControllerRpc.CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT } }],
    }),
    CreateVolumeGroupSnapshot: ({ name, sourceVolumeIds }) => {
      const id = `${node}group-${name}`;
      for (const volume of sourceVolumeIds as readonly string[]) kept(`${name}-${volume}`, volume, id);
      return { groupSnapshot: group(id) };
    },
    GetVolumeGroupSnapshot: ({ groupSnapshotId }) => ({ groupSnapshot: group(String(groupSnapshotId)) }),
    DeleteVolumeGroupSnapshot: ({ groupSnapshotId }) => {
      for (const [name, each] of snapshots) if (each.groupSnapshotId === groupSnapshotId) snapshots.delete(name);
      return {};
    },
  };
  const service = new Proxy(
    {},
    {
      get: (_, method: string) => async (request: Request, options: { signal?: AbortSignal } | undefined) => {
        calls.push({ method, request });
        const handler = scripts.get(method) ?? own[method];
        if (handler === undefined) throw new GrpcError("UNIMPLEMENTED", `no ${method}`);
        return handler(request, options);
      },
    },
  );
  const scripted: ScriptedController = {
    driver: { endpoint: "scripted", Controller: service, GroupController: service, close: () => {} } as CsiDriver,
    snapshots,
    calls,
    script: (method, handler) => {
      if (handler === undefined) scripts.delete(method);
      else scripts.set(method, handler);
    },
    readyAtOnce: true,
    capabilities: [ControllerRpc.CREATE_DELETE_SNAPSHOT, ControllerRpc.LIST_SNAPSHOTS, ControllerRpc.GET_SNAPSHOT],
  };
  return scripted;
}
