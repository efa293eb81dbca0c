import { expect, it } from "vitest";
import { detailsOf, stateOf } from "./container.ts";

it.each([
  {
    given: {
      state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 20s restarting failed container" } },
      lastState: { terminated: { exitCode: 3, reason: "Error", finishedAt: "2026-01-01T00:00:00Z" } },
    },
    words: "CrashLoopBackOff",
    details: [
      "back-off 20s restarting failed container",
      "last ended with exit code 3 (Error) at 2026-01-01T00:00:00Z",
    ],
  },
  {
    given: { state: { waiting: { reason: "ErrImagePull", message: "not found" } } },
    words: "ErrImagePull",
    details: ["not found"],
  },
  {
    given: { state: { terminated: { exitCode: 137, signal: 9, reason: "OOMKilled" } } },
    words: "OOMKilled (137)",
    details: ["ended by signal 9 (OOMKilled)"],
  },
  { given: { state: { running: {} }, ready: true }, words: "running, ready", details: [] },
  { given: undefined, words: "waiting", details: [] },
])("$words", ({ given, words, details }) => {
  const status = given && { name: "c", image: "", imageID: "", ready: false, restartCount: 0, ...given };
  expect(stateOf(status).words).toBe(words);
  expect(detailsOf(status)).toEqual(details);
});
