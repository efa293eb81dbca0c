/** What containerd is receiving: CRI says nothing of a pull before its end. */
import { Metadata } from "@grpc/grpc-js";
import { methodsOf } from "#grpc";
import type { ImageService } from "../runtime/runtime.ts";
import type { Channel } from "./channel.ts";
import { NAMESPACE } from "./containerd-events.ts";

const messages = {
  ListStatusesRequest: { filters: [1, "string[]"] },
  Status: { ref: [3, "string"], offset: [4, "int64"], total: [5, "int64"] },
  ListStatusesResponse: { statuses: [1, "Status[]"] },
} as const;

const service = { ListStatuses: ["ListStatusesRequest", "ListStatusesResponse"] } as const;

const LAYER = "layer-";

export function containerdContent(channel: Channel): Required<Pick<ImageService, "receiving">> {
  const methods = methodsOf("containerd.services.content.v1.Content", messages, service);
  const metadata = new Metadata();
  metadata.set("containerd-namespace", NAMESPACE);
  return {
    async receiving(signal) {
      const { statuses } = await channel.call(methods.ListStatuses, {}, { signal, metadata });
      return statuses
        .filter(({ ref }) => ref.startsWith(LAYER))
        .map(({ ref, offset, total }) => ({ ref, receivedBytes: Number(offset), totalBytes: Number(total) }));
    },
  };
}
