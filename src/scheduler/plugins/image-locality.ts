/**
 * ImageLocality: prefers nodes with the pod's images, by size. Images on few nodes count less, to avoid crowding there.
 */
import {
  type ClusterView,
  definePlugin,
  MAX_SCORE,
  type NodeAsk,
  type PluginFactory,
  ready,
  SKIP,
} from "../framework/index.ts";

const NAME = "ImageLocality";
const MB = 1024 * 1024;
const LEAST = 23 * MB;
const MOST_FOR_A_CONTAINER = 1000 * MB;

interface Images {
  readonly ask: NodeAsk;
  readonly view: ClusterView;
}

export const imageLocality: PluginFactory = {
  name: NAME,
  make: () =>
    definePlugin<undefined, Images>({
      name: NAME,
      score: {
        reads: "node",
        prepare: (ask, view) => (ask.containers === 0 ? SKIP : ready({ ask, view })),
        epoch: (view) => view.imagesGeneration,
        of({ ask, view }, { images }) {
          let sum = 0;
          if (images.size > 0) {
            for (const image of ask.images) {
              const size = images.get(image);
              if (size !== undefined) sum += Math.trunc(size * (view.imageNodes(image) / view.nodeCount));
            }
          }
          const most = MOST_FOR_A_CONTAINER * ask.containers;
          const bounded = Math.min(Math.max(sum, LEAST), most);
          return Math.trunc((MAX_SCORE * (bounded - LEAST)) / (most - LEAST));
        },
      },
    }),
};
