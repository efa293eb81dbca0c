/** A container's state in words, and what its status says about how it came to it. */
import type { core } from "#api";
import type { Tone } from "./pod.ts";

export function stateOf(status: core.ContainerStatus | undefined): { readonly words: string; readonly tone: Tone } {
  const { state, ready } = status ?? {};
  if (state?.running !== undefined)
    return ready ? { words: "running, ready", tone: "good" } : { words: "running, not ready", tone: "busy" };
  if (state?.terminated !== undefined) {
    const { exitCode = 0, reason } = state.terminated;
    return { words: `${reason ?? "ended"} (${exitCode})`, tone: exitCode === 0 ? "quiet" : "bad" };
  }
  const reason = state?.waiting?.reason;
  const isUsual = reason === undefined || reason === "ContainerCreating" || reason === "PodInitializing";
  return { words: reason ?? "waiting", tone: isUsual ? "busy" : "bad" };
}

/** The message of the state, and how the container ended the last time. */
export function detailsOf(status: core.ContainerStatus | undefined): string[] {
  const { state, lastState } = status ?? {};
  const message = state?.waiting?.message ?? state?.terminated?.message;
  const last = lastState?.terminated;
  return [
    ...(message ? [message] : []),
    ...(state?.terminated === undefined ? [] : [endOf("ended", state.terminated)]),
    ...(last === undefined ? [] : [endOf("last ended", last)]),
  ];
}

function endOf(
  words: string,
  { exitCode, signal, reason, message, finishedAt }: core.ContainerStateTerminated,
): string {
  const how = signal ? `by signal ${signal}` : `with exit code ${exitCode ?? 0}`;
  const why = [reason, message].filter(Boolean).join(": ");
  return `${words} ${how}${why === "" ? "" : ` (${why})`}${finishedAt === undefined ? "" : ` at ${finishedAt}`}`;
}
