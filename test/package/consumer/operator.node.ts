import assert from "node:assert/strict";
import { test } from "node:test";
import { storyInTheKit, storyOnRealTime } from "./story.js";

test("a Widget gets its replicas", { timeout: 60_000 }, async () => {
  assert.deepEqual(await storyInTheKit(2), [2, 3]);
  assert.equal(await storyOnRealTime(2), 2);
});
