import { expect, it } from "vitest";
import { StatusError } from "#api";
import { createLogger, realClock } from "#base";
import { answerError } from "./recover.ts";

it.each([
  [
    "a kubelet that does not answer: one line",
    new StatusError("", "error dialing backend: connect ECONNREFUSED 10.0.0.1:10250", {
      code: 500,
      cause: new Error("connect ECONNREFUSED", { cause: new Error("inner") }),
    }),
    { level: "warn", why: "error dialing backend: connect ECONNREFUSED 10.0.0.1:10250" },
  ],
  ["an error that nobody expected: with its stack", new TypeError("no"), { level: "error", error: expect.anything() }],
])("logs %s", (_, error, want) => {
  const lines: string[] = [];
  const log = createLogger({ clock: realClock(), format: "json", level: "info", write: (line) => lines.push(line) });
  const { status } = answerError(error, { headers: {}, method: "GET", path: "/exec" }, log);
  expect(status).toBe(500);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([want]);
  expect(lines.join("").includes("at ")).toBe(want.level === "error");
});
