/** A Pod's log and terminal in Chromium, against an API server that a test speaks for. */
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realClock, silentLogger } from "#base";
import { type Dashboard, startDashboard } from "#dashboard";
import { bundleDashboard } from "../../scripts/bundle-dashboard.ts";
import { FakeApi } from "../../src/dashboard/testing/fake-api.ts";
import { browserPath, startBrowser } from "../support/browser.ts";

const canRun = browserPath() !== undefined;
const root = join(import.meta.dirname, "..", "..");
const POD = {
  metadata: {
    name: "web",
    namespace: "default",
    uid: "u",
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
  },
  spec: { containers: [{ name: "main" }, { name: "side" }] },
};
const complaints: string[] = [];
let api: FakeApi;
let dashboard: Dashboard;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  if (!canRun) return;
  await bundleDashboard(root);
  api = await FakeApi.start((url) =>
    JSON.stringify({
      metadata: { resourceVersion: "1" },
      items: url.startsWith("/api/v1/namespaces/default/pods?") ? [POD] : [],
    }),
  );
  const assets = join(root, "dist/dashboard");
  const upstream = async () => api.upstream;
  dashboard = await startDashboard({ clock: realClock(), log: silentLogger, port: 0, assets, upstream });
  browser = await startBrowser();
  page = await browser.newPage();
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(dashboard.newLink());
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
});
afterAll(async () => {
  await browser?.close();
  await dashboard?.close();
  await api?.[Symbol.asyncDispose]();
});

async function tab(name: string): Promise<void> {
  await page.evaluate(`location.hash = "#/object/-/v1/pods/default/web/${name}"`);
}

describe.skipIf(!canRun)("a Pod's page", () => {
  it("follows the log of the container that was chosen", async () => {
    await tab("logs");
    const asked = (container: string) =>
      api.watches.find(({ req }) => req.url?.includes("/log?") && req.url.includes(`container=${container}`));
    await expect.poll(() => asked("main")).toBeDefined();
    asked("main")?.write("one\n\u001b[32mtwo\u001b[0m\nhalf");
    const log = page.getByRole("log");
    await log.getByText("two").waitFor();
    expect(await log.textContent()).not.toContain("half");
    asked("main")?.write(" a line\n");
    await log.getByText("half a line").waitFor();
    await page.getByRole("searchbox", { name: "Search the log" }).fill("ONE");
    await expect.poll(() => log.textContent()).toBe("one");
    await page.getByRole("combobox", { name: "Container" }).selectOption("side");
    await expect.poll(() => asked("side")).toBeDefined();
  });

  it("runs a shell in a terminal, whose style sheets the page's policy lets through", async () => {
    await tab("terminal");
    await page.getByRole("button", { name: "Start" }).click();
    await expect.poll(() => api.sockets.length).toBe(1);
    const url = api.asked.find((each) => each.url.includes("/exec?"))?.url;
    expect(url).toBe(
      "/api/v1/namespaces/default/pods/web/exec?container=main&stdin=true&stdout=true&tty=true&command=sh",
    );
    const [shell] = api.sockets;
    shell?.send(Buffer.from("\u0001hello from the shell\r\n# "));
    const screen = page.locator(".xterm-rows");
    await screen.getByText("hello from the shell").waitFor();
    await page.keyboard.type("ls");
    await expect
      .poll(() => Buffer.concat(api.frames.filter((each) => each[0] === 0).map((each) => each.subarray(1))).toString())
      .toBe("ls");
    expect(api.frames.some((each) => each[0] === 4 && each.toString().includes("Width"))).toBe(true);
    // Its style sheets were taken: rows have the height that they were given.
    expect(await page.evaluate("getComputedStyle(document.querySelector('.xterm-rows')).pointerEvents")).toBe("none");
    shell?.send(Buffer.from('\u0003{"status":"Success"}'));
    shell?.close();
    await page.getByText("The shell has exited.").waitFor();
    expect(complaints).toEqual([]);
  });

  it("says in the server's words why a shell cannot start", async () => {
    await tab("terminal");
    api.refusal = 'unable to upgrade connection: container not found ("main")';
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("alert").getByText('container not found ("main")').waitFor();
    expect(complaints).toEqual([]);
  });
});
