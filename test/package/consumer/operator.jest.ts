import { expect, test } from "@jest/globals";
import { kinds } from "k8ts/api";
import { beReady, type ClusterMatchers, matchers, startCluster } from "k8ts/testing";
import { storyInTheKit, storyOnRealTime } from "./story.js";

declare module "@jest/expect" {
  interface Matchers<R> extends ClusterMatchers<R> {}
}
expect.extend(matchers);

test("a Widget gets its replicas", async () => {
  expect(await storyInTheKit(2)).toEqual([2, 3]);
  expect(await storyOnRealTime(2)).toBe(2);
}, 60_000);

test("the matcher works", async () => {
  await using cluster = await startCluster();
  await expect(cluster.object(kinds.Node, "node-1")).toEventually(beReady());
}, 60_000);
