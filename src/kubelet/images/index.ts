/** The whole public surface of images. */
export { ImageGc } from "./image-gc.ts";
export { type ImageMetrics, imageMetrics, sizeLabel } from "./image-metrics.ts";
export { type ImagePuller, imagePuller, type PullRequest } from "./image-puller.ts";
