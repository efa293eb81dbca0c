/**
 * The group of a node's CSI driver on a machine with cgroup v2 alone. This machine may have others: what follows runs
 * where only v2 is mounted.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { findProgram } from "../machine/command.ts";

const execute = promisify(execFile);
const script = join(import.meta.dirname, "testing", "open-in-group.ts");
const group = `/k8ts-test-${process.pid}.volumes`;
const ALONE = 'mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"';

const why = await execute("unshare", [
  "--mount",
  "sh",
  "-c",
  ALONE,
  "sh",
  "sh",
  "-c",
  "command -v runc && command -v busybox",
]).then(
  () => "",
  () => ": there is no cgroup v2, runc or busybox here",
);

it.skipIf(why !== "")(`its processes may open the node's loop devices, and no others${why}`, async () => {
  const node = [process.execPath, script, group];
  const { stdout } = await execute("unshare", ["--mount", "sh", "-c", ALONE, "sh", ...node]);
  expect(JSON.parse(stdout)).toEqual({ null: "opened", own: "opened", other: "refused", made: "opened", left: false });
  expect(findProgram("runc")).toBeDefined();
});
