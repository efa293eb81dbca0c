/**
 * The dashboard in Chromium, on a cluster with simulated nodes: what it shows, follows, replays, changes and refuses.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { browserPath, startBrowser } from "../support/browser.ts";
import type { Running } from "../support/command.ts";
import { Home } from "../support/k8ts.ts";
import { startSimulated } from "../support/simulated.ts";
import { CommandLine, tool } from "../support/tools.ts";

const program = tool("kubectl");
const canRun = program !== undefined && browserPath() !== undefined;
let home: Home;
let browser: Browser;
let link = "";
const kubectl = new CommandLine(program, () => home);
const contexts: BrowserContext[] = [];
/** What pages had to complain about: a script that failed, something that the policy forbade. */
let complaints: string[] = [];
/** Everything that pages asked for. */
const asked = new Set<string>();

beforeAll(async () => {
  if (!canRun) return;
  home = new Home();
  const up = await startSimulated(home, 2);
  link = /dashboard +(http\S+)/.exec(up.stdout)?.[1] ?? "";
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await home?.[Symbol.asyncDispose]();
});
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
  expect(complaints).toEqual([]);
});

async function newPage(): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  contexts.push(context);
  complaints = [];
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // That the server refuses something is told on the page; the browser says it once more.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  page.on("request", (request) => asked.add(new URL(request.url()).origin));
  page.setDefaultTimeout(20_000);
  return page;
}

/** A dashboard of its own, with the rights of a kubeconfig. */
async function dashboard(...flags: string[]): Promise<{ running: Running; link: string }> {
  const running = home.start("dashboard", "--serve", "--no-open", ...flags);
  await running.printed("works once");
  return { running, link: /Dashboard: (\S+)/.exec(running.stdout())?.[1] ?? "" };
}

async function open(path = ""): Promise<Page> {
  const page = await newPage();
  const { link: own } = await dashboard();
  await page.goto(own);
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  if (path !== "") await go(page, path);
  return page;
}

async function go(page: Page, path: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(path)}`);
}

/** Whether the chosen page's name is in sight, where names scroll. */
const CHOSEN_IS_SEEN = `(() => {
  const chosen = document.querySelector(".side nav [aria-current]");
  const [name, row] = [chosen, chosen?.parentElement].map((each) => each?.getBoundingClientRect());
  return row !== undefined && name.left >= row.left - 1 && name.right <= row.right + 1;
})()`;

const grid = (page: Page, label: string) => page.getByRole("grid", { name: label });
const row = (page: Page, label: string, text: string | RegExp) =>
  grid(page, label).getByRole("row").filter({ hasText: text });

describe.skipIf(!canRun)("the dashboard", () => {
  it("opens by the link that `up` prints, once, and not without it", async () => {
    const page = await newPage();
    await page.goto(link);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByText("kubernetes-admin").waitFor();
    await page.getByText("all ready").waitFor();

    expect(readFileSync(join(home.dataDir, "k8ts.log"), "utf8")).not.toContain("token=");

    const stranger = await newPage();
    expect((await stranger.goto(link))?.status()).toBe(401);
    expect(await stranger.textContent("body")).toContain("is used or invalid");
    expect((await stranger.goto(link.replace(/\?.*/, "")))?.status()).toBe(401);
    expect((await stranger.goto(`${link.replace(/\?.*/, "")}proxy/api/v1/secrets`))?.status()).toBe(401);
  });

  it("shows Pods as they come and go", async () => {
    const page = await open("#/pods");
    await grid(page, "Pods").getByText("There are no Pods here.").waitFor();
    await kubectl.ok("create", "deployment", "live", "--image=example/web", "--replicas=2");
    await row(page, "Pods", /live-.*Running/)
      .nth(1)
      .waitFor();
    await kubectl.ok("delete", "deployment", "live");
    await grid(page, "Pods").getByText("There are no Pods here.").waitFor();
  });

  it("can be used by keyboard", async () => {
    await kubectl.ok("create", "deployment", "keys", "--image=example/web", "--replicas=2");
    const page = await open();
    await page.waitForFunction("document.title.startsWith('Overview')");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent.trim()")).toBe("Skip to content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    await page.getByRole("heading", { name: "Pods" }).waitFor();
    await row(page, "Pods", "keys-").nth(1).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("keys");
    await page.keyboard.press("Escape");
    await grid(page, "Pods").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: /^keys-/ }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("t");
    await page.locator("html[data-theme=light]").waitFor();
    await kubectl.ok("delete", "deployment", "keys");
  });

  it("follows a rollout in the flow view, replays it, and shows the record of an arrow", async () => {
    const page = await open("#/flows");
    await page.getByText("There are no records yet").or(page.locator(".line").first()).first().waitFor();
    await kubectl.ok("create", "deployment", "web", "--image=example/web:1", "--replicas=3");
    await page.getByRole("link", { name: /deployments\/web/ }).click();
    const line = (text: RegExp) => page.getByRole("option", { name: text });
    // Who takes part appears as they do.
    for (const name of ["kubectl", "deployment-controller", "scheduler"]) {
      await page.getByRole("button", { name, exact: true }).waitFor();
    }
    const steps = page.locator(".steps");
    const total = async () => Number(/of (\d+)/.exec((await steps.textContent()) ?? "")?.[1]);
    await kubectl.ok("rollout", "status", "deployment/web", "--timeout=50s");
    const before = await total();
    await kubectl.ok("set", "image", "deployment/web", "web=example/web:2");
    await kubectl.ok("rollout", "status", "deployment/web", "--timeout=50s");
    await expect.poll(total).toBeGreaterThan(before + 10);

    // The time slider goes back to the beginning, and the diagram with it.
    await page.getByRole("slider", { name: "Time" }).focus();
    await page.keyboard.press("Home");
    await steps.filter({ hasText: /^1 of/ }).waitFor();
    // What is drawn follows what is chosen, a frame later.
    await expect.poll(() => page.locator(".line").count()).toBe(1);
    await line(/kubectl to apiserver: POST deployments/).waitFor();
    await page.getByRole("combobox", { name: "Speed" }).selectOption("5");
    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.getByRole("button", { name: "Live", pressed: true }).waitFor();
    await expect.poll(async () => (await steps.textContent())?.trim()).toMatch(/^(\d+) of \1 steps$/);

    await page.getByRole("button", { name: "kubectl", exact: true }).click();
    await line(/kubectl to apiserver: POST deployments/).click();
    const record = page.getByRole("complementary", { name: "The chosen step" });
    await record.getByText("none: the flow starts here").waitFor();
    expect(await record.textContent()).toContain("create apps/deployments");
    expect(await page.locator(".line").filter({ hasText: "POST pods" }).count()).toBe(0);
  });

  it("shows how far a rollout is", async () => {
    const page = await open("#/workloads");
    await row(page, "Workloads", /web.*Deployment.*available/).waitFor();
    await kubectl.ok("scale", "deployment/web", "--replicas=0");
    await row(page, "Workloads", /web.*scaled to zero/).waitFor();
    await kubectl.ok("scale", "deployment/web", "--replicas=3");
    await row(page, "Workloads", /web.*3 of 3 ready.*available/).waitFor();
  });

  it("tries a change before it is made: what is wrong by field, or what would become of it", async () => {
    // Nothing but the test changes it.
    await kubectl.ok("create", "deployment", "edited", "--image=example/web", "--replicas=0");
    await kubectl.ok("rollout", "status", "deployment/edited", "--timeout=50s");
    const page = await open("#/object/apps/v1/deployments/default/edited/yaml");
    const field = page.getByRole("textbox", { name: "YAML" });
    await expect.poll(() => field.inputValue()).toContain("replicas: 0");
    const text = await field.inputValue();
    const [check, apply] = ["Check", "Apply"].map((name) => page.getByRole("button", { name, exact: true }));

    await field.fill(text.replace("replicas: 0", "replicas: -3"));
    await check?.click();
    await page.getByText("The server rejected it.").waitFor();
    await page.getByRole("button", { name: "spec.replicas" }).click();
    const marked = "((field) => field.value.slice(field.selectionStart, field.selectionEnd))(document.activeElement)";
    await expect.poll(() => page.evaluate(marked)).toContain("replicas: -3");
    expect(await apply?.isDisabled()).toBe(true);

    await field.fill(text.replace("replicas: 0", "replicas: 4"));
    await check?.click();
    await page.locator(".diff .added").filter({ hasText: "replicas: 4" }).waitFor();
    // Nothing but what was changed, and what the server counts.
    const gone = (await page.locator(".diff .removed").allTextContents()).map((text) =>
      text.replaceAll(/[\s\d-]/g, ""),
    );
    expect(gone).toEqual(["generation:", "replicas:"]);
    const kept = (await kubectl.json("get", "deployment", "edited")) as { spec: { replicas: number } };
    expect(kept.spec.replicas).toBe(0);
    await apply?.click();
    await page.getByText("Applied at revision").waitFor();
    const made = (await kubectl.json("get", "deployment", "edited")) as { spec: { replicas: number } };
    expect(made.spec.replicas).toBe(4);
  });

  it("shows only what a restricted user may see", async () => {
    await kubectl.ok("create", "namespace", "team");
    await kubectl.ok("create", "serviceaccount", "reader", "-n", "team");
    await kubectl.ok("create", "role", "reader", "-n", "team", "--verb=get,list,watch", "--resource=pods");
    await kubectl.ok("create", "rolebinding", "reader", "-n", "team", "--role=reader", "--serviceaccount=team:reader");
    await kubectl.ok("run", "theirs", "-n", "team", "--image=example/x");
    const token = (await kubectl.ok("create", "token", "reader", "-n", "team")).trim();
    const file = join(home.dir, "reader.kubeconfig");
    const admin = (await kubectl.json("config", "view", "--raw", "--minify")) as {
      clusters: object[];
      contexts: { name: string; context: object }[];
    };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: admin.clusters,
      users: [{ name: "reader", user: { token } }],
      contexts: [{ name: "reader", context: { ...admin.contexts[0]?.context, user: "reader", namespace: "team" } }],
      "current-context": "reader",
    };
    writeFileSync(file, JSON.stringify(config));
    const page = await newPage();
    const own = await dashboard("--kubeconfig", file);
    await page.goto(own.link);
    await page.locator(".who").getByText("system:serviceaccount:team:reader").waitFor();
    await go(page, "#/pods");
    await row(page, "Pods", "theirs").waitFor();
    const namespace = page.getByRole("textbox", { name: "Namespace" });
    await namespace.fill("default");
    await namespace.press("Enter");
    await page.getByText(/Forbidden: pods is forbidden/).waitFor();
    expect(await page.getByRole("row", { name: /web-/ }).count()).toBe(0);
    await go(page, "#/nodes");
    await page.getByText("Forbidden: nodes, pods.").waitFor();
    await go(page, "#/flows");
    await page.getByRole("link", { name: /pods\/theirs/ }).waitFor();
    expect(await page.getByRole("link", { name: /deployments\/web/ }).count()).toBe(0);
    expect(await page.getByRole("option", { name: /web-/ }).count()).toBe(0);
    await go(page, "#/access");
    await page.getByText("that you may read").waitFor();
    rmSync(file);
  });

  it("answers who can", async () => {
    const page = await open("#/access");
    await row(page, "Who can", "system:masters").waitFor();
    await page.getByRole("combobox", { name: "Namespace" }).selectOption("team");
    await row(page, "Who can", /team\/reader.*RoleBinding reader → Role reader/).waitFor();
    await page.getByRole("combobox", { name: "Verb" }).fill("delete");
    await row(page, "Who can", "team/reader").waitFor({ state: "detached" });
  });

  it("shows every page in both themes and at both widths without a complaint and without a request to elsewhere", async () => {
    const page = await open();
    const pages = [
      "overview",
      "nodes",
      "workloads",
      "pods",
      "autoscalers",
      "volumes",
      "events",
      "flows",
      "access",
      "resources",
    ].map((name) => `#/${name}`);
    const tabs = ["summary", "yaml", "events", "flow"].map((tab) => `#/object/apps/v1/deployments/default/web/${tab}`);
    const visits = ([1280, 390] as const).flatMap((width) =>
      (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme })),
    );
    for (const { width, colorScheme } of visits) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      const ink = await page.evaluate("getComputedStyle(document.body).color");
      expect(ink).toBe(colorScheme === "light" ? "rgb(27, 29, 32)" : "rgb(231, 232, 234)");
      for (const path of [...pages, ...tabs]) {
        await go(page, path);
        await page.locator("main h1").waitFor();
        const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
        expect(wide, `${path} at ${width}`).toBe(false);
        if (!tabs.includes(path)) await expect.poll(() => page.evaluate(CHOSEN_IS_SEEN), { message: path }).toBe(true);
      }
    }
    expect([...asked].every((origin) => new URL(origin).hostname === "127.0.0.1")).toBe(true);
  });
});
