/** What container runtimes, network plugins and etcd answer. A library decodes protobuf; the rest is ours. */

import { changeIn } from "../../src/kubelet/cri/containerd-events.ts";
import { containerdMethods } from "../../src/kubelet/cri/containerd-messages.ts";
import {
  fromContainer,
  fromContainerStats,
  fromContainerStatus,
  fromEvent,
  fromFilesystem,
  fromImage,
  fromPodSandboxStatus,
  fromRuntimeStatus,
} from "../../src/kubelet/cri/from-cri.ts";
import { imageMethods, runtimeMethods } from "../../src/kubelet/cri/messages.ts";
import { RuntimeError } from "../../src/kubelet/runtime/runtime.ts";
import { CniError } from "../../src/network/cni/cni-error.ts";
import { addressesOf, pluginFailure, pluginResult } from "../../src/network/cni/result.ts";
import { Assembly, Gap } from "../../src/store/etcd/assembly.ts";
import { changeOf, entryOf } from "../../src/store/etcd/keys.ts";
import { createRpc } from "../../src/store/etcd/rpc.ts";
import { StoreError } from "../../src/store/model/errors.ts";
import { type Targets, texts } from "./target.ts";

/** Of fields up to 15, and of short values. */
const bytesField = (field: number, ...parts: readonly (Buffer | string)[]) => {
  const payload = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const number = field < 16 ? [(field << 3) | 2] : [((field << 3) & 0x7f) | 0x82, field >> 4];
  return Buffer.concat([Buffer.from([...number, payload.length]), payload]);
};
const numberField = (field: number, value: number) => Buffer.from([field << 3, value]);
const entry = bytesField(1, "key");
const pair = Buffer.concat([entry, bytesField(2, "value")]);

const sandbox = [bytesField(1, "id"), bytesField(2, bytesField(1, "name")), numberField(4, 9), bytesField(7, pair)];
const network = bytesField(5, bytesField(1, "10.0.0.1"), bytesField(2, bytesField(1, "fd00::1")));
const container = [bytesField(1, "id"), bytesField(3, bytesField(1, "main")), numberField(6, 1), bytesField(8, pair)];
const user = bytesField(17, bytesField(1, numberField(1, 5), bytesField(3, Buffer.from([1, 2]))));
const status = [bytesField(1, "id"), numberField(3, 2), numberField(4, 9), bytesField(14, bytesField(1, "/a")), user];
const usage = bytesField(2, numberField(1, 9), bytesField(2, numberField(1, 7)));
const image = [bytesField(1, "id"), bytesField(2, "tag"), numberField(4, 9), bytesField(5, numberField(1, 3))];
const filesystem = [bytesField(2, bytesField(1, "/var")), bytesField(3, numberField(1, 3))];

const runtime = runtimeMethods();
const images = imageMethods();
/** The first byte of an input chooses the answer. */
const answers: readonly { readonly seed: Buffer; readonly read: (bytes: Buffer) => unknown }[] = [
  {
    seed: bytesField(1, ...sandbox, network),
    read: answer(runtime.PodSandboxStatus.decode, ({ status }) => status && fromPodSandboxStatus(status)),
  },
  {
    seed: bytesField(1, ...container),
    read: answer(runtime.ListContainers.decode, ({ containers }) => containers.map(fromContainer)),
  },
  {
    seed: bytesField(1, ...status),
    read: answer(runtime.ContainerStatus.decode, ({ status }) => status && fromContainerStatus(status, "s")),
  },
  {
    seed: bytesField(1, usage),
    read: answer(runtime.ListContainerStats.decode, ({ stats }) => stats.map(fromContainerStats)),
  },
  {
    seed: Buffer.concat([bytesField(1, "id"), numberField(2, 1), bytesField(4, ...sandbox)]),
    read: answer(runtime.GetContainerEvents.decode, fromEvent),
  },
  { seed: bytesField(1, bytesField(1, entry)), read: answer(runtime.Status.decode, fromRuntimeStatus) },
  { seed: bytesField(1, ...image), read: answer(images.ListImages.decode, (found) => found.images.map(fromImage)) },
  {
    seed: bytesField(1, ...filesystem),
    read: answer(images.ImageFsInfo.decode, ({ imageFilesystems }) => imageFilesystems.map(fromFilesystem)),
  },
];

const containerd = containerdMethods();
const envelope = (topic: string) => Buffer.concat([bytesField(3, topic), bytesField(4, bytesField(2, pair))]);

const rpc = createRpc();
const keyValue = [entry, numberField(2, 5), numberField(3, 6), bytesField(5, "value")];
const changed = (revision: number) => bytesField(11, bytesField(2, entry, numberField(3, revision)));

export const runtimeTargets: Targets = {
  "cni result": {
    seeds: texts(
      '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.2/24","gateway":"10.0.0.1"},{"address":"fd00::2/64"}],"dns":{}}',
      '{"code":7,"msg":"m","details":"d"}',
    ),
    errors: [CniError],
    read: (bytes) => {
      const stdout = bytes.toString();
      const failed = pluginFailure({ type: "bridge", verb: "add", stdout, stderr: "", exitCode: 1 });
      return failed instanceof CniError && addressesOf(pluginResult("bridge", stdout) ?? {});
    },
  },
  "cri answers": {
    seeds: answers.map(({ seed }, i) => Buffer.concat([Buffer.from([i]), seed])),
    errors: [],
    read: ([which = 0, ...bytes]) => answers[which % answers.length]?.read(Buffer.from(bytes)),
  },
  "containerd events": {
    seeds: ["/containers/create", "/tasks/exit", "/tasks/oom"].map(envelope),
    errors: [RuntimeError],
    read: answer(containerd.Subscribe.decode, (event) => changeIn(event, containerd) ?? event),
  },
  "etcd answers": {
    seeds: [Buffer.concat([bytesField(1, numberField(3, 6)), bytesField(2, ...keyValue), numberField(4, 1)])],
    errors: [],
    read: answer(rpc.range.decode, ({ kvs }) => kvs.map(entryOf)),
  },
  "etcd changes": {
    seeds: [[6], [6, 7, 8]].map((all) => Buffer.concat([bytesField(1, numberField(3, 8)), ...all.map(changed)])),
    errors: [StoreError, Gap],
    read: answer(rpc.watch.decode, (message) => {
      if (message.events.some(({ kv }) => kv === null)) return false;
      return message.events.map(changeOf) && new Assembly(5).add(message);
    }),
  },
};

/** gRPC turns whatever its decoder throws into a status; what is made of the decoded message must not throw. */
function answer<T>(decode: (bytes: Buffer) => T, use: (message: T) => unknown): (bytes: Buffer) => unknown {
  return (bytes) => {
    let message: T;
    try {
      message = decode(bytes);
    } catch {
      return false;
    }
    return use(message) ?? false;
  };
}
