/** A Pod's log, terminal, ports and pulls in Chromium, against an API server that a test speaks for. */
import { createConnection } from "node:net";
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
  spec: { containers: [{ name: "main", ports: [{ name: "http", containerPort: 8080 }] }, { name: "side" }] },
  status: { phase: "Running" },
};
/** It waits for its image. */
const WAITING = {
  metadata: { ...POD.metadata, name: "waiting", uid: "v" },
  spec: { nodeName: "node-1", containers: [{ name: "main", image: "r.example/big:1" }] },
  status: {
    phase: "Pending",
    containerStatuses: [{ name: "main", image: "", state: { waiting: { reason: "ContainerCreating" } } }],
  },
};
const PULL = {
  image: "r.example/big:1",
  namespace: "default",
  pod: "waiting",
  tookMs: 14_000,
  receivedBytes: 12 * 2 ** 20,
  totalBytes: 48 * 2 ** 20,
  layers: 3,
  completeLayers: 2,
};
const complaints: string[] = [];
let allowed = true;
let api: FakeApi;
let dashboard: Dashboard;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  if (!canRun) return;
  await bundleDashboard(root);
  api = await FakeApi.start((url) => {
    if (url.endsWith("selfsubjectaccessreviews")) return JSON.stringify({ status: { allowed } });
    if (url === "/api/v1/nodes/node-1/proxy/pulls") return JSON.stringify({ pulls: [PULL] });
    const isPods = /^\/api\/v1(\/namespaces\/default)?\/pods\?/.test(url);
    const items = !isPods ? [] : url.includes("fieldSelector") ? [POD] : [POD, WAITING];
    return JSON.stringify({ metadata: { resourceVersion: "1" }, items });
  });
  const assets = join(root, "dist/dashboard");
  const upstream = async () => api.upstream;
  dashboard = await startDashboard({ clock: realClock(), log: silentLogger, port: 0, assets, upstream });
  browser = await startBrowser();
  page = await browser.newPage();
  page.on("console", (message) => {
    // That the server refuses something is told on the page; the browser says it once more.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
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

  it("forwards a port, says how it is used, and closes it", async () => {
    api.refusal = undefined;
    await tab("summary");
    await page.getByRole("toolbar", { name: "Actions" }).getByRole("button", { name: "Forward" }).click();
    const question = page.getByRole("dialog", { name: "Forward a port of web" });
    expect(await question.getByRole("combobox", { name: "Port of the Pod" }).inputValue()).toBe("8080");
    await question.getByRole("textbox", { name: "Port of this machine" }).fill("70000");
    await page.keyboard.press("Enter");
    await question.getByRole("alert").getByText("from 1 to 65535, or 0 for a free one").waitFor();
    await question.getByRole("textbox", { name: "Port of this machine" }).fill("");
    await page.keyboard.press("Enter");
    const address = question.getByRole("link", { name: /^http:\/\/127\.0\.0\.1:\d+\/$/ });
    const port = Number(new URL((await address.textContent()) ?? "").port);
    const before = api.sockets.length;
    const program = createConnection({ host: "127.0.0.1", port });
    await expect.poll(() => api.sockets.length).toBe(before + 1);
    expect(api.asked.at(-1)?.url).toBe("/api/v1/namespaces/default/pods/web/portforward?ports=8080");
    await question.getByRole("button", { name: "Close" }).click();
    await page.keyboard.press("g");
    await page.keyboard.press("d");
    const forwards = page.getByRole("list", { name: "Forwarded ports" });
    await forwards.getByText("1 open, 1 in all").waitFor();
    const far = api.sockets.at(-1);
    for (const channel of [0, 1]) far?.send(Buffer.from([channel, 0x90, 0x1f]));
    far?.send(Buffer.from("\u0001connection refused in the Pod"));
    far?.close(1000);
    await forwards.getByText("connection refused in the Pod").waitFor();
    await page.getByRole("button", { name: `Close port ${port}` }).click();
    await page.getByRole("status").getByText(`Port ${port} is closed.`).waitFor();
    expect(await forwards.count()).toBe(0);
    program.destroy();
  });

  it("shows how far the pull of an image is", async () => {
    await page.evaluate('location.hash = "#/images"');
    const pulls = page.getByRole("list", { name: "Pulls" });
    await pulls.getByText("pulling for 14 s: 12 MiB of 48 MiB, 2 of 3 layers complete").waitFor();
    await pulls.getByRole("link", { name: "waiting" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("offers no port to those who may not forward one", async () => {
    allowed = false;
    const before = api.asked.length;
    await tab("summary");
    await page.getByRole("heading", { name: "web" }).waitFor();
    const denied = () => api.asked.slice(before).filter(({ body }) => body.includes('"subresource":"portforward"'));
    await expect.poll(() => denied().length).toBeGreaterThan(0);
    expect(await page.getByRole("button", { name: "Forward" }).count()).toBe(0);
  });
});
