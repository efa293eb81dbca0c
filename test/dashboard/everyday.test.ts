/** What people do all day in the dashboard, in Chromium: search, look, edit, share a link; by keyboard and on a phone. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserPath, startBrowser } from "../support/browser.ts";
import { Home } from "../support/k8ts.ts";
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
});
