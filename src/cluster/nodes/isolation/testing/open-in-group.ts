/** `node open-in-group.ts GROUP`: makes the volumes' group of a node, and says what a process in it may open. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureVolumesGroup, LOOP_MAJOR, LOOPS, REMOVE, volumeObstacle } from "../volume-devices.ts";

const FIRST = 1_000_000;
const [volumesCgroup = ""] = process.argv.slice(2);
const obstacle = await volumeObstacle();
if (obstacle !== undefined) throw new Error(obstacle);
// Idempotent.
for (const _ of [1, 2]) await ensureVolumesGroup({ volumesCgroup }, FIRST);
const folder = join("/sys/fs/cgroup", volumesCgroup);
const dir = mkdtempSync(join(tmpdir(), "k8ts-open-"));
const inGroup = (command: string) => {
  try {
    execFileSync("sh", ["-c", `echo $$ > ${folder}/cgroup.procs && ${command}`], { stdio: "pipe" });
    return "opened";
  } catch (error) {
    return String(error).includes("not permitted") ? "refused" : String(error);
  }
};
const device = (minor: number) => `mknod ${dir}/${minor} b ${LOOP_MAJOR} ${minor} && stat ${dir}/${minor}`;
const opened = (minor: number) => `${device(minor)} && (: < ${dir}/${minor})`;
const said = {
  null: inGroup(": < /dev/null"),
  own: inGroup(opened(FIRST + LOOPS - 1)),
  other: inGroup(opened(FIRST + LOOPS)),
  made: inGroup(device(5)),
};
// The kernel makes a loop device for whoever opens it.
execFileSync("perl", ["-e", REMOVE, String(FIRST + LOOPS - 1)]);
rmdirSync(folder);
rmSync(dir, { recursive: true });
process.stdout.write(JSON.stringify({ ...said, left: existsSync(folder) }));
