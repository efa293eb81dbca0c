/** The termination message of a container: from its file, or from the end of its log if the policy says so. */
import { TERMINATION_MESSAGE_PATH, TERMINATION_MESSAGE_POLICY } from "../containers/index.ts";
import type { PodFiles } from "../host/index.ts";
import type { ContainerStatus } from "../runtime/runtime.ts";

const MAX_BYTES = 4096;
const MAX_LOG_BYTES = 2048;
const MAX_LOG_LINES = 80;

export async function terminationMessage(
  files: Pick<PodFiles, "tail">,
  { annotations, mounts, message, exitCode, logPath }: ContainerStatus,
): Promise<string> {
  const path = annotations[TERMINATION_MESSAGE_PATH] ?? "";
  const file = path === "" ? undefined : mounts.find(({ containerPath }) => containerPath === path)?.hostPath;
  const written = file === undefined ? "" : await files.tail(file, MAX_BYTES);
  if (written !== "") return joined(message, written);
  if (annotations[TERMINATION_MESSAGE_POLICY] !== "FallbackToLogsOnError" || exitCode === 0) return message;
  // More than needed: each line has a prefix with time and stream.
  return joined(message, logTail(await files.tail(logPath, MAX_LOG_BYTES * 4)));
}

function joined(message: string, more: string): string {
  return message === "" || message === more ? more : `${message}: ${more}`;
}

/** The text of the last lines of a log in CRI's format: time, stream, whole or partial, text. */
export function logTail(log: string): string {
  let text = "";
  for (const line of log.split("\n")) {
    const match = /^\S+ (?:stdout|stderr) ([FP])\S* ?(.*)$/.exec(line);
    if (match !== null) text += match[1] === "P" ? match[2] : `${match[2]}\n`;
  }
  const lines = text.split("\n");
  const last = lines.slice(-MAX_LOG_LINES - 1).join("\n");
  const bytes = Buffer.from(last);
  return bytes.length <= MAX_LOG_BYTES ? last : bytes.subarray(-MAX_LOG_BYTES).toString();
}
