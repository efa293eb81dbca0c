/** Images of the simulated runtime: every name can be pulled unless the script says otherwise. */
import type { Clock } from "#base";
import { type Image, type ImageService, RuntimeError } from "../runtime.ts";
import type { Script } from "./script.ts";

export interface SimulatedImages extends ImageService {
  /** Adds an image without a pull. */
  add(name: string, about?: Partial<Image>): void;
}

export function simulatedImages(clock: Clock, script: Script, called: (verb: string) => void): SimulatedImages {
  const images = new Map<string, Image>();
  const pulls = new Map<string, number>();
  const add = (name: string, about: Partial<Image> = {}) => {
    const image = { id: `sha256:${name}`, repoTags: [name], repoDigests: [], sizeBytes: 1_000_000, ...about };
    images.set(name, image);
  };
  const find = (name: string) => images.get(name) ?? [...images.values()].find(({ id }) => id === name);
  return {
    add,
    async list() {
      called("images.list");
      return [...images.values()];
    },
    async status(name) {
      called("images.status");
      return find(name);
    },
    async pull(name, _options, signal) {
      called(`images.pull ${name}`);
      const attempt = pulls.get(name) ?? 0;
      pulls.set(name, attempt + 1);
      const { afterMs = 0, error } = script.pull?.(name, attempt) ?? {};
      if (afterMs > 0) await clock.sleep(afterMs, signal);
      if (error !== undefined) throw new RuntimeError("Unknown", error);
      add(name, images.get(name));
      return `sha256:${name}`;
    },
    async remove(name) {
      called(`images.remove ${name}`);
      for (const [key, { id }] of images) if (key === name || id === name) images.delete(key);
    },
    async filesystemUsage() {
      called("images.filesystemUsage");
      const usedBytes = [...images.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      return [{ mountpoint: "/", usedBytes, inodesUsed: images.size }];
    },
  };
}
