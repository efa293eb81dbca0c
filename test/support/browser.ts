/** Chromium, driven by tests. It reaches loopback only: that of this machine, or of a network namespace. */
import { existsSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

/** Where the set-up, or the machine's owner, has put it. */
export function browserPath(): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/bin"];
  return folders.map((dir) => join(dir, "chromium")).find((file) => existsSync(file));
}

/** `inside`: a network namespace, and a folder for what leads there. */
export function startBrowser(inside?: { readonly network: string; readonly dir: string }): Promise<Browser> {
  const found = browserPath();
  if (found === undefined) throw new Error("there is no chromium");
  const executablePath = inside === undefined ? found : entering(found, inside);
  // A root user has no sandbox; a small /dev/shm would end pages.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

function entering(program: string, { network, dir }: { readonly network: string; readonly dir: string }): string {
  const file = join(dir, "chromium-inside");
  writeFileSync(file, `#!/bin/sh\nexec nsenter --net=${network} -- ${program} "$@"\n`, { mode: 0o755 });
  return file;
}
