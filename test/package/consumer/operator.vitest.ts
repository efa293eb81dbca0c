import { kinds } from "k8ts/api";
import { beReady, type ClusterMatchers, matchers, startCluster } from "k8ts/testing";
import { expect, test } from "vitest";
import { storyInTheKit, storyOnRealTime } from "./story.js";

declare module "vitest" {
  interface Matchers<T> extends ClusterMatchers<T> {}
}
expect.extend(matchers);

test("a Widget gets its replicas", async () => {
  expect(await storyInTheKit(2)).toEqual([2, 3]);
  expect(await storyOnRealTime(2)).toBe(2);
}, 60_000);

test("the matcher works and explains", async () => {
  await using cluster = await startCluster();
  await expect(cluster.object(kinds.Node, "node-1")).toEventually(beReady());
  const missing = cluster.object(kinds.Pod, "missing");
  await expect(expect(missing).toEventually(beReady())).rejects.toThrow("it does not exist");
}, 60_000);
