import { expect, test } from "@jest/globals";
import { storyOnRealTime } from "./story.js";

test("a Widget gets its replicas", async () => {
  expect(await storyOnRealTime(2)).toBe(2);
}, 60_000);
