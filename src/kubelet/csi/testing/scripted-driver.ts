/** A CSI driver behind real sockets that registers as drivers do, and writes down what it is asked. */
import { join } from "node:path";
import { realClock } from "#base";
import { type GrpcServer, servedService, serveGrpc } from "#grpc";
import { type CsiSent, NodeRpc, serveCsi } from "#storage/csi";
import { registrationMethods } from "../../plugins/index.ts";

export interface ScriptedDriver extends AsyncDisposable {
  /** Method and request of each call but those of registration, in their order. */
  readonly calls: (readonly [method: string, request: Readonly<Record<string, unknown>>])[];
  /** What the kubelet has said of the registration: empty for yes. */
  readonly answers: string[];
  /** How many volumes it can have here; may change. */
  maxVolumes: number;
  /** What the next call of the method fails with, by the method's name in `calls`; undefined: it succeeds. */
  failure: (method: string) => Error | undefined;
  /** What it says of each volume. */
  stats: CsiSent<"NodeGetVolumeStatsResponse">;
}

export interface ScriptedDriverOptions {
  readonly name: string;
  /** For its own socket. */
  readonly dir: string;
  readonly registry: string;
  readonly can?: readonly number[];
  readonly versions?: readonly string[];
}

const EVERYTHING = [NodeRpc.STAGE_UNSTAGE_VOLUME, NodeRpc.EXPAND_VOLUME, NodeRpc.SINGLE_NODE_MULTI_WRITER];

export async function scriptedDriver(options: ScriptedDriverOptions): Promise<ScriptedDriver> {
  const { name, dir, registry, can = EVERYTHING, versions = ["1.0.0"] } = options;
  const clock = realClock();
  const serving = {
    clock,
    onError: (path: string, error: unknown) => {
      throw new Error(path, { cause: error });
    },
  };
  const calls: ScriptedDriver["calls"] = [];
  const answers: string[] = [];
  const script: Pick<ScriptedDriver, "maxVolumes" | "stats" | "failure"> = {
    maxVolumes: 8,
    stats: {},
    failure: () => undefined,
  };
  const noted =
    <T extends object>(method: string, answer: T) =>
    async (request: Readonly<Record<string, unknown>>): Promise<T> => {
      calls.push([method, request]);
      const failure = script.failure(method);
      if (failure !== undefined) throw failure;
      return answer;
    };
  const endpoint = join(dir, `${name}.sock`);
  const driver = await serveCsi(
    endpoint,
    {
      Node: {
        NodeGetInfo: async () => ({
          nodeId: "id-1",
          maxVolumesPerNode: script.maxVolumes,
          accessibleTopology: { segments: { "example.com/rack": "r1" } },
        }),
        NodeGetCapabilities: async () => ({ capabilities: can.map((type) => ({ rpc: { type } })) }),
        NodeStageVolume: noted("stage", {}),
        NodeUnstageVolume: noted("unstage", {}),
        NodePublishVolume: noted("publish", {}),
        NodeUnpublishVolume: noted("unpublish", {}),
        NodeGetVolumeStats: async (request) => {
          calls.push(["stats", request]);
          return script.stats;
        },
        NodeExpandVolume: noted("expand", { capacityBytes: 0 }),
      },
    },
    serving,
  );
  const registration: GrpcServer = await serveGrpc(
    join(registry, `${name}-reg.sock`),
    [
      servedService(registrationMethods(), {
        GetInfo: async () => ({ type: "CSIPlugin", name, endpoint, supportedVersions: versions }),
        NotifyRegistrationStatus: async ({ error }: { readonly error: string }) => {
          answers.push(error);
          return {};
        },
      }),
    ],
    serving,
  );
  return Object.assign(script, {
    calls,
    answers,
    async [Symbol.asyncDispose]() {
      await registration.close();
      await driver.close();
    },
  });
}
