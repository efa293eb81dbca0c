/**
 * One set-up at a time in a checkout: `npm ci` deletes what another one is just installing.
 *
 * 1. The kernel holds the lock (flock of util-linux or busybox): whoever dies no longer holds it. Processes that the
 *    holder has started hold it with it, because they still write.
 * 2. Without flock on PATH there is no lock.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onPath, tools } from "./steps.mjs";

/** Runs a script with this Node, alone in this checkout. Returns its exit code. */
export function runAlone(script, args) {
  const command = [process.execPath, script, ...args];
  if (!onPath("flock")) return runCommand(command);
  mkdirSync(tools, { recursive: true });
  const file = join(tools, "setup.lock");
  const isFree = spawnSync("flock", ["-n", file, "true"]).status === 0;
  if (!isFree) console.log("k8ts: another set-up of this checkout is running: waiting for it …");
  return runCommand(["flock", file, ...command]);
}

function runCommand([command, ...args]) {
  const { status, error } = spawnSync(command, args, { stdio: "inherit" });
  if (error) console.error(`k8ts: ${command} could not be started: ${error.message}`);
  return status ?? 1;
}
