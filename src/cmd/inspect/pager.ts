/**
 * Text for a terminal: what does not fit is shown in the user's pager, with horizontal scrolling.
 *
 * 1. PAGER may contain arguments; LESS is left as the user set it.
 * 2. While the pager runs, this process ignores Ctrl-C: exiting first would leave the pager without its terminal.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";

export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** The exit code of a shell for an unknown program. */
const NO_PROGRAM = 127;

export async function showPaged(
  text: string,
  terminal: Terminal = process.stdout,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const { isTTY = false, columns = 80, rows = 24 } = terminal;
  const lines = text.split("\n");
  const fits = lines.length <= rows && lines.every((line) => line.length <= columns);
  if (!isTTY || fits || env.TERM === "dumb" || !(await paged(text, env))) terminal.write(text);
}

/** False: there is no pager. */
async function paged(text: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const pager = spawn(env.PAGER || "less", {
    shell: true,
    stdio: ["pipe", "inherit", "inherit"],
    env: { LESS: "-SRX", ...env },
  });
  const stay = () => {};
  process.on("SIGINT", stay);
  // It may end before all is read.
  pager.stdin.on("error", () => {});
  pager.stdin.end(text);
  try {
    const [code] = (await once(pager, "exit")) as [number | null];
    return code !== NO_PROGRAM;
  } catch {
    return false; // there is no shell
  } finally {
    process.off("SIGINT", stay);
  }
}
