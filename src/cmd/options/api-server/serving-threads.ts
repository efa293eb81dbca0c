/** `--serving-threads`. */
import { InvalidArgumentError, Option } from "commander";

const MOST = 64;

export interface ServingThreadsOptions {
  readonly servingThreads?: number | "auto";
}

export function servingThreadsOption(): Option {
  return new Option(
    "--serving-threads <n>",
    "threads that serve requests, each a whole API server over the same store; auto: one, and more while it is busy (default: 1)",
  ).argParser((text: string): number | "auto" => {
    if (text === "auto") return text;
    const count = Number(text);
    if (!/^\d+$/.test(text) || count < 1 || count > MOST)
      throw new InvalidArgumentError(`It is auto, or a whole number from 1 to ${MOST}.`);
    return count;
  });
}
