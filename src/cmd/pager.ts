/** Text for a terminal: what does not fit is shown by the user's pager, and can be moved sideways. */
import { spawn } from "node:child_process";
import { once } from "node:events";

export async function showPaged(text: string, env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const { isTTY, columns = 80, rows = 24 } = process.stdout;
  const lines = text.split("\n");
  const fits = lines.length <= rows && lines.every((line) => line.length <= columns);
  if (!isTTY || fits) {
    process.stdout.write(text);
    return;
  }
  const pager = spawn(env.PAGER || "less", [], {
    stdio: ["pipe", "inherit", "inherit"],
    env: { LESS: "-SRX", ...env },
  });
  // It may end before all is read.
  pager.stdin.on("error", () => {});
  pager.stdin.end(text);
  try {
    await once(pager, "exit");
  } catch {
    process.stdout.write(text); // there is no pager: all of it at once
  }
}
