/** Flow records outlive the process. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "#base";
import { Recorder } from "#flows";
import { rollout } from "../../flows/testing/records.ts";
import { openFlowFile } from "./flow-file.ts";

describe("flow records in a file", () => {
  let dir: string;
  let path: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "k8ts-flow-file-"));
    path = join(dir, "flows.ndjson");
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const begun = async (limitBytes?: number) => {
    const recorder = new Recorder();
    const file = await openFlowFile({
      path,
      recorder,
      log: silentLogger,
      ...(limitBytes !== undefined && { limitBytes }),
    });
    return { recorder, file };
  };
  const names = (recorder: Recorder) =>
    recorder.records().map((record) => (record.type === "work" ? record.id : record.name));

  it("are there after a restart, with their causes, and without what was only read", async () => {
    const first = await begun();
    first.recorder.restore(rollout().records);
    const [one] = rollout().records;
    if (one?.type === "request") first.recorder.request({ ...one, verb: "get", name: "read" });
    await first.file.close();
    const second = await begun();
    expect(names(second.recorder)).toEqual(names(first.recorder).filter((name) => name !== "read"));
    await second.file.close();
  });

  it("leave out a line that was cut off", async () => {
    const [one] = rollout().records;
    writeFileSync(path, `${JSON.stringify(one)}\n{"type":"reque`);
    const { recorder, file } = await begun();
    expect(names(recorder)).toEqual(["web"]);
    await file.close();
  });

  it("take no more than two files of the limit", async () => {
    const { recorder, file } = await begun(2000);
    const [one] = rollout().records;
    for (let at = 0; at < 50 && one?.type === "request"; at++) {
      recorder.request({ ...one, name: `n${at}` });
      await new Promise(setImmediate);
    }
    await file.close();
    expect(readFileSync(path).length).toBeLessThan(6000);
    const { recorder: second, file: again } = await begun();
    expect(names(second).at(-1)).toBe("n49");
    expect(names(second).length).toBeLessThan(50);
    await again.close();
  });
});
