/** What people do all day in the dashboard, in Chromium: search, look, edit, share a link; by keyboard and on a phone. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserPath, startBrowser } from "../support/browser.ts";
import { release } from "../support/furnished.ts";
import { Home } from "../support/k8ts.ts";
import { REACHABLE, type Reachable } from "../support/reachable.ts";
import { startSimulated } from "../support/simulated.ts";
import { CommandLine, tool } from "../support/tools.ts";

const program = tool("kubectl");
const canRun = program !== undefined && browserPath() !== undefined;
const PATIENT = { timeout: 180_000 };
let home: Home;
let browser: Browser;
let page: Page;
const kubectl = new CommandLine(program, () => home);
const complaints: string[] = [];

beforeAll(async () => {
  if (!canRun) return;
  home = new Home();
  const up = await startSimulated(home, 2);
  await kubectl.ok("create", "deployment", "web", "--image=example/web", "--replicas=2");
  await kubectl.ok("create", "deployment", "other", "--image=example/other");
  await kubectl.ok("expose", "deployment", "web", "--port=80");
  await kubectl.ok("create", "configmap", "settings", "--from-literal=colour=green");
  await kubectl.ok("create", "secret", "generic", "hidden", "--from-literal=password=hunter2");
  await kubectl.ok("rollout", "status", "deployment/web", "--timeout=100s");
  browser = await startBrowser();
  page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  page.setDefaultTimeout(60_000);
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(/dashboard +(http\S+)/.exec(up.stdout)?.[1] ?? "");
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await home?.[Symbol.asyncDispose]();
  expect(complaints).toEqual([]);
});

const go = (path: string) => page.evaluate(`location.hash = ${JSON.stringify(path)}`);
const rows = () => page.getByRole("grid", { name: "Pods" }).getByRole("row");
const url = () => page.evaluate("location.hash");

describe.skipIf(!canRun)("everyday use of the dashboard", () => {
  it("Esc empties the search and its filter; the URL has search and namespace", PATIENT, async () => {
    await go("#/pods?namespace=default");
    await rows().filter({ hasText: "other-" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("web-");
    await rows().filter({ hasText: "other-" }).waitFor({ state: "detached" });
    await expect.poll(url).toBe("#/pods?namespace=default&search=web-");
    await page.keyboard.press("Escape");
    await rows().filter({ hasText: "other-" }).waitFor();
    expect(await page.getByRole("searchbox").inputValue()).toBe("");
    await expect.poll(url).toBe("#/pods?namespace=default");
    await go("#/pods?namespace=*&search=other-");
    await rows().filter({ hasText: "web-" }).first().waitFor({ state: "detached" });
    expect(await page.getByRole("combobox", { name: "Namespace" }).inputValue()).toBe("");
  });

  it("arrow keys move in a table without Tab, and from the search", PATIENT, async () => {
    await go("#/nodes");
    await page.getByRole("grid", { name: "Nodes" }).getByText("node-1").waitFor();
    await page.evaluate("document.activeElement.blur()");
    await page.keyboard.press("ArrowDown");
    await page.locator('[role=row][aria-selected="true"]').filter({ hasText: "node-1" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "node-2" }).waitFor();
  });

  it("the summary has the server's columns, spec, status and data, of a Pod where it runs", PATIENT, async () => {
    await go("#/object/-/v1/services/default/web");
    await page.locator(".crumbs").filter({ hasText: "Service in default" }).waitFor();
    const facts = page.locator(".facts");
    await facts.filter({ hasText: /Type\s*ClusterIP.*Port\(s\)\s*80\/TCP/s }).waitFor();
    await page.getByRole("region", { name: "spec" }).getByText("targetPort: 80").waitFor();
    await go("#/object/-/v1/configmaps/default/settings");
    await page.locator(".crumbs").filter({ hasText: "ConfigMap in default" }).waitFor();
    await page.getByRole("region", { name: "data" }).getByText("colour: green").waitFor();
    await go("#/object/-/v1/secrets/default/hidden");
    await page.getByRole("region", { name: "data" }).getByText("password: 7 bytes").waitFor();
    const { items } = (await kubectl.json("get", "pods", "-l", "app=web")) as {
      items: { metadata: { name: string }; spec: { nodeName: string }; status: { podIP: string } }[];
    };
    const [pod] = items;
    await go(`#/object/-/v1/pods/default/${pod?.metadata.name}`);
    await facts.getByText(pod?.status.podIP ?? "no address").waitFor();
    await facts.getByRole("link", { name: pod?.spec.nodeName ?? "no node" }).waitFor();
  });

  it("a mistake in YAML is not the server's, and edits are not lost without a question", PATIENT, async () => {
    await go("#/object/-/v1/configmaps/default/settings/yaml");
    const field = page.getByRole("textbox", { name: "YAML" });
    await expect.poll(() => field.inputValue()).toContain("colour: green");
    const text = await field.inputValue();
    await field.fill(`${text}data: [\n`);
    await page.getByRole("button", { name: "Check", exact: true }).click();
    await page.getByText("This is not valid YAML.").waitFor();
    expect(await page.getByText("The server rejected it.").count()).toBe(0);
    await page.getByRole("link", { name: "Events" }).first().click();
    const question = page.getByRole("dialog", { name: "Edits are not applied" });
    await question.getByRole("button", { name: "Stay" }).click();
    expect(await field.inputValue()).toContain("data: [");
    await page.getByRole("button", { name: "Reload" }).click();
    await question.getByRole("button", { name: "Keep them" }).click();
    expect(await field.inputValue()).toContain("data: [");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Pods" }).click();
    await question.getByRole("button", { name: "Discard the edits" }).click();
    await page.getByRole("heading", { name: "Pods" }).waitFor();
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Nodes" }).click();
    await page.getByRole("heading", { name: "Nodes" }).waitFor();
  });

  it("the access question is in the URL, and doubts what the server does not have", PATIENT, async () => {
    await go("#/access?verb=delete&resource=pods");
    expect(await page.getByRole("combobox", { name: "Verb" }).inputValue()).toBe("delete");
    const resource = page.getByRole("combobox", { name: /^Resource/ });
    await resource.fill("deployments");
    await page.getByText("The server has no resource “deployments”: “deployments.apps”?").waitFor();
    await resource.fill("deployments.apps/scale");
    await page.getByText("has no verb “delete”: it has").waitFor();
    await expect.poll(url).toContain("resource=deployments.apps%2Fscale");
  });

  it("on a phone a flow is a list that fits, and the state of a Pod is not cut", PATIENT, async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await go("#/flows");
    await page.locator(".line").first().waitFor();
    await expect.poll(() => page.evaluate("document.querySelector('.diagram').scrollWidth <= innerWidth")).toBe(true);
    await page.locator(".between").filter({ hasText: "──►" }).first().waitFor();
    await go("#/pods?namespace=*");
    const state = page.locator(".row .state").first();
    await state.waitFor();
    const fits = `(() => {
      const state = document.querySelector(".row .state");
      state.lastChild.textContent = "CrashLoopBackOff";
      return state.parentElement.scrollWidth <= state.parentElement.clientWidth && state.scrollWidth <= state.clientWidth;
    })()`;
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(fits), `at ${width}`).toBe(true);
    }
  });

  it("shows what Helm has released, by keyboard: chart, values, objects, changes", PATIENT, async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    const file = join(home.dir, "releases.json");
    const items = [release(1, "superseded", 1), release(2, "deployed", 3)];
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    await go("#/releases?namespace=*");
    await page.getByText("There are no releases of Helm here.").waitFor();
    await kubectl.ok("apply", "-f", file);
    await page
      .getByRole("row")
      .filter({ hasText: /shop.*deployed.*store 1\.2\.3.*4\.5.*2/s })
      .waitFor();
    await page.evaluate("document.activeElement.blur()");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "Revisions" }).getByText("superseded").waitFor();
    const part = (name: string) => page.getByRole("navigation", { name: "Parts of this release" }).getByText(name);
    await part("Values").click();
    await page.getByRole("region", { name: "Values of the user" }).getByText("replicas: 3").waitFor();
    await part("Objects").click();
    await page.getByRole("table", { name: "Objects" }).getByRole("link", { name: "web" }).waitFor();
    await part("Changes").click();
    const changes = page.getByRole("table", { name: "Values, side by side" });
    await changes.locator(".removed").getByText("replicas: 1").waitFor();
    await changes.locator(".added").getByText("replicas: 3").waitFor();
    await page.getByRole("combobox", { name: "Revision" }).selectOption("1");
    await page.getByText("There is no revision before this one any more.").waitFor();
    await kubectl.ok("delete", "secret", "-l", "owner=helm");
    await page.getByText("There is no release default/shop.").waitFor();
  });

  it("names the images of nodes and what is wrong with a pull", PATIENT, async () => {
    // A node without a kubelet, which reports what the test says.
    const file = join(home.dir, "ghost.json");
    const ghost = { apiVersion: "v1", kind: "Node", metadata: { name: "ghost" } };
    const containers = [{ name: "main", image: "r.example/none:1" }];
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "pulls" }, spec: { nodeName: "ghost", containers } };
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: [ghost, pod] }));
    await kubectl.ok("apply", "-f", file);
    const images = [{ names: ["r.example/big@sha256:a", "r.example/big:1"], sizeBytes: 3 * 2 ** 30 }];
    const waiting = { reason: "ErrImagePull", message: "not found in the registry" };
    const status = { name: "main", image: "", imageID: "", ready: false, restartCount: 0, state: { waiting } };
    const patch = (kind: string, value: object) =>
      ["patch", ...kind.split("/"), "--subresource=status", "--type=merge"].concat(
        "-p",
        JSON.stringify({ status: value }),
      );
    await kubectl.ok(...patch("node/ghost", { images }));
    await kubectl.ok(...patch("pod/pulls", { containerStatuses: [status] }));
    await go("#/images");
    const row = page.getByRole("grid", { name: "Images" }).getByRole("row").filter({ hasText: "r.example/big:1" });
    await row.filter({ hasText: /3 GiB.*none.*ghost/s }).waitFor();
    const pulls = page.getByRole("list", { name: "Pulls" });
    await pulls.getByText("ErrImagePull: not found in the registry").waitFor();
    await page.getByRole("combobox", { name: "Node" }).selectOption("node-1");
    await row.waitFor({ state: "detached" });
    await expect.poll(url).toContain("node=node-1");
    await kubectl.ok("delete", "node/ghost", "pod/pulls", "--force", "--grace-period=0");
  });

  it("every page is walked by keyboard, and everything on it has a name", PATIENT, async () => {
    const keys = (await page.evaluate(
      `[...document.querySelectorAll(".side nav a")].map((each) => [...each.children].map((part) => part.textContent))`,
    )) as [string, string][];
    expect(keys.length).toBeGreaterThan(10);
    for (const [title, key] of keys) {
      await page.evaluate("document.activeElement.blur()");
      for (const each of key.split(" ")) await page.keyboard.press(each);
      await expect.poll(() => page.title()).toBe(`${title} · k8ts`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      const found = (await page.evaluate(REACHABLE)) as Reachable;
      expect(found, title).toMatchObject({ nameless: [], headings: 1, lists: 0 });
      // All of them in turn, none twice: nothing holds the focus.
      await page.evaluate("globalThis.visited = new Set()");
      for (let at = 0; at < found.count; at++) {
        await page.keyboard.press("Tab");
        await page.evaluate("void visited.add(document.activeElement)");
      }
      expect(await page.evaluate("visited.size"), title).toBeGreaterThanOrEqual(found.count - 2);
    }
  });

  it("leads to another cluster of the same user", PATIENT, async () => {
    const flags = ["--store", "memory", "--nodes", "0", "--port", "0", "--detach"];
    expect(await page.getByRole("combobox", { name: "Cluster" }).count()).toBe(0);
    expect((await home.k8ts("up", "second", ...flags)).code).toBe(0);
    try {
      await page.reload();
      await page.getByRole("combobox", { name: "Cluster" }).selectOption("second");
      await page.locator(".who").getByText("k8ts-second").waitFor();
      expect(await page.getByRole("combobox", { name: "Cluster" }).inputValue()).toBe("second");
    } finally {
      await home.k8ts("down", "second");
    }
  });
});
