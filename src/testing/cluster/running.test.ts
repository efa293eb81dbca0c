import { describe, expect, it } from "vitest";
import { within } from "./running.ts";

describe("a stop", () => {
  const limit = { ms: 20, describe: () => ["not answered yet: kubelet: GET /api"] };

  it("does not wait for what hangs, and says what that is", async () => {
    const hangs = within(limit, "components", () => new Promise(() => {}));
    await expect(hangs).rejects.toThrow(
      "the components did not stop within 20 ms:\n  not answered yet: kubelet: GET /api",
    );
  });

  it("hands on what fails", async () => {
    await expect(
      within({ ...limit, ms: 3_600_000 }, "port", async () => Promise.reject(new Error("no"))),
    ).rejects.toThrow("no");
  });
});
