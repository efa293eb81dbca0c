/** The last words of a container: from the file that it was given for them, or from the end of its log where its policy says so. */
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
  const told = file === undefined ? "" : await files.tail(file, MAX_BYTES);
  if (told !== "") return joined(message, told);
  if (annotations[TERMINATION_MESSAGE_POLICY] !== "FallbackToLogsOnError" || exitCode === 0) return message;
  // Twice as much, for the time and the stream stand before each line.
  return joined(message, logTail(await files.tail(logPath, MAX_LOG_BYTES * 4)));
}

function joined(message: string, told: string): string {
  return message === "" || message === told ? told : `${message}: ${told}`;
}

/** The text of the last lines of a log in the CRI's format: time, stream, whole or partial, text. */
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
