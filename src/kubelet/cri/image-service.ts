/** CRI's image service. */
import { type ImageService, RuntimeError } from "../runtime/runtime.ts";
import type { Channel } from "./channel.ts";
import { fromFilesystem, fromImage } from "./from-cri.ts";
import { imageMethods } from "./messages.ts";
import { toAuth, toImageSpec, toPodSandboxConfig } from "./to-cri.ts";

/** A pull has no timeout; the caller may abort it. */
const NO_LIMIT_MS = 0;

export function criImages(channel: Channel): ImageService {
  const methods = imageMethods();
  return {
    async list(signal) {
      const { images } = await channel.call(methods.ListImages, {}, { signal });
      return images.map(fromImage);
    },
    async status(image, signal) {
      const { image: found } = await channel.call(methods.ImageStatus, { image: toImageSpec(image) }, { signal });
      return found === null ? undefined : fromImage(found);
    },
    async pull(image, { auth, sandbox }, signal) {
      const request = {
        image: toImageSpec(image),
        ...(auth !== undefined && { auth: toAuth(auth) }),
        ...(sandbox !== undefined && { sandboxConfig: toPodSandboxConfig(sandbox) }),
      };
      const { imageRef } = await channel.call(methods.PullImage, request, { signal, timeoutMs: NO_LIMIT_MS });
      if (imageRef === "") throw new RuntimeError("Unknown", `the runtime gave no reference for image ${image}`);
      return imageRef;
    },
    async remove(image, signal) {
      await channel.call(methods.RemoveImage, { image: toImageSpec(image) }, { signal });
    },
    async filesystemUsage(signal) {
      const { imageFilesystems } = await channel.call(methods.ImageFsInfo, {}, { signal });
      return imageFilesystems.map(fromFilesystem);
    },
  };
}
