/**
 * Images as read-only file systems, by containerd's snapshots: CRI can mount images only since containerd 2.1.
 *
 *     image ──► its chain of layers (CRI) ──► view of them ──► mounts, for the caller to perform
 *
 * 1. A view is kept until it is released, also by a kubelet after this one: its key says what it is for.
 */
import { Metadata } from "@grpc/grpc-js";
import { methodsOf } from "#grpc";
import { type ImageMount, type ImageMounts, RuntimeError } from "../runtime/runtime.ts";
import type { Channel } from "./channel.ts";
import { NAMESPACE } from "./containerd-events.ts";
import { type ImageMethods, imageMethods, type RuntimeMethods } from "./messages.ts";
import { toImageSpec } from "./to-cri.ts";

const messages = {
  Nothing: {},
  ViewRequest: { snapshotter: [1, "string"], key: [2, "string"], parent: [3, "string"], labels: [4, "map"] },
  SnapshotRequest: { snapshotter: [1, "string"], key: [2, "string"] },
  Mount: { type: [1, "string"], source: [2, "string"], options: [4, "string[]"] },
  MountsResponse: { mounts: [1, "Mount[]"] },
} as const;

const service = {
  View: ["ViewRequest", "MountsResponse"],
  Mounts: ["SnapshotRequest", "MountsResponse"],
  Remove: ["SnapshotRequest", "Nothing"],
} as const;

const DEFAULT_SNAPSHOTTER = "overlayfs";
/** What has this label is not collected as garbage, nor is what it is made of. */
const ROOT_LABEL = "containerd.io/gc.root";

export function containerdSnapshots(channel: Channel, status: RuntimeMethods["Status"]): ImageMounts {
  const methods = methodsOf("containerd.services.snapshots.v1.Snapshots", messages, service);
  const images: Pick<ImageMethods, "ImageStatus"> = imageMethods();
  const metadata = new Metadata();
  metadata.set("containerd-namespace", NAMESPACE);

  const chainOf = async (image: string, signal?: AbortSignal) => {
    const request = { image: toImageSpec(image), verbose: true };
    const { info } = await channel.call(images.ImageStatus, request, { signal });
    const { chainID } = parsed(info.info) as { chainID?: string };
    if (chainID === undefined)
      throw new RuntimeError("NotFound", `the runtime does not say of what image ${image} is made`);
    return chainID;
  };
  const snapshotterOf = async (signal?: AbortSignal) => {
    const { info } = await channel.call(status, { verbose: true }, { signal });
    const { containerd } = parsed(info.config) as { containerd?: { snapshotter?: string } };
    return containerd?.snapshotter || DEFAULT_SNAPSHOTTER;
  };

  return {
    async prepare(image, key, signal): Promise<readonly ImageMount[]> {
      const [parent, snapshotter] = [await chainOf(image, signal), await snapshotterOf(signal)];
      const request = { snapshotter, key, parent, labels: { [ROOT_LABEL]: "true" } };
      const found = await channel.call(methods.View, request, { signal, metadata }).catch((error: unknown) => {
        if (!(error instanceof RuntimeError) || error.code !== "AlreadyExists") throw error;
        return channel.call(methods.Mounts, { snapshotter, key }, { signal, metadata });
      });
      return found.mounts;
    },
    async release(key, signal) {
      const request = { snapshotter: await snapshotterOf(signal), key };
      await channel.call(methods.Remove, request, { signal, metadata }).catch((error: unknown) => {
        if (!(error instanceof RuntimeError) || error.code !== "NotFound") throw error;
      });
    },
  };
}

function parsed(text = "{}"): object {
  return JSON.parse(text) as object;
}
