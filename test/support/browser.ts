/** Chromium, driven by tests. It reaches loopback only. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

/** Where the set-up, or the machine's owner, has put it. */
export function browserPath(): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/bin"];
  return folders.map((dir) => join(dir, "chromium")).find((file) => existsSync(file));
}

export function startBrowser(): Promise<Browser> {
  const executablePath = browserPath();
  if (executablePath === undefined) throw new Error("there is no chromium");
  // A root user has no sandbox; a small /dev/shm would end pages.
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}
