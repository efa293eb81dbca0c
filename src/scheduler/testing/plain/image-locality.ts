/**
 * Prefers nodes that have the Pod's images, mounted ones included, large ones before small ones, but less so images
 * that few nodes have: else those few would get all Pods.
 */
import type { core } from "#api";
import { type PlainCluster, type PlainPlugin, scoresOf } from "./cluster.ts";

const MB = 1024n * 1024n;
const LEAST = 23n * MB;
const MOST_FOR_A_CONTAINER = 1000n * MB;

export const imageLocality: PlainPlugin = {
  name: "ImageLocality",
  score({ pod, cluster }, feasible) {
    const images = imagesOf(pod);
    const containers = (pod.spec?.initContainers ?? []).length + (pod.spec?.containers ?? []).length;
    return scoresOf(feasible, (node) => {
      const sum = images.reduce((total, image) => total + sizeOn(node, image, cluster), 0n);
      const most = MOST_FOR_A_CONTAINER * BigInt(containers);
      const bounded = sum < LEAST ? LEAST : sum > most ? most : sum;
      return Number((100n * (bounded - LEAST)) / (most - LEAST));
    });
  },
};

function imagesOf({ spec }: core.Pod): readonly string[] {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const mounted = (spec?.volumes ?? []).flatMap(({ image }) =>
    image?.reference === undefined ? [] : [image.reference],
  );
  return [...containers.map(({ image = "" }) => image), ...mounted].map(tagged);
}

/** `a/b` means `a/b:latest`; the colon of a registry's port is no tag. */
function tagged(image: string): string {
  return image.lastIndexOf(":") <= image.lastIndexOf("/") ? `${image}:latest` : image;
}

function sizeOn(node: core.Node, image: string, { nodes }: PlainCluster): bigint {
  const size = (node.status?.images ?? []).find(({ names = [] }) => names.includes(image))?.sizeBytes;
  if (size === undefined) return 0n;
  const having = nodes.filter(({ status }) => (status?.images ?? []).some(({ names = [] }) => names.includes(image)));
  return BigInt(Math.trunc(Number(size) * (having.length / nodes.length)));
}
