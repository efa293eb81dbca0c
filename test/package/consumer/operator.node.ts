import assert from "node:assert/strict";
import { test } from "node:test";
import { storyOnRealTime } from "./story.js";

test("a Widget gets its replicas", { timeout: 60_000 }, async () => {
  assert.equal(await storyOnRealTime(2), 2);
});
