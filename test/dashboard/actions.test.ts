/** Actions of the dashboard in Chromium: as the admin, and as one who may only read; why and the past of objects. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserPath, startBrowser } from "../support/browser.ts";
import { Home } from "../support/k8ts.ts";
import { startSimulated } from "../support/simulated.ts";
import { CommandLine, tool } from "../support/tools.ts";
import { viewerLink } from "../support/viewer.ts";

const program = tool("kubectl");
const canRun = program !== undefined && browserPath() !== undefined;
const PATIENT = { timeout: 180_000 };
let home: Home;
let browser: Browser;
let page: Page;
const kubectl = new CommandLine(program, () => home);
const complaints: string[] = [];

async function openPage(link: string): Promise<Page> {
  const made = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  made.setDefaultTimeout(60_000);
  made.on("pageerror", (error) => complaints.push(error.message));
  await made.goto(link);
  await made.getByRole("navigation", { name: "Pages" }).waitFor();
  return made;
}

beforeAll(async () => {
  if (!canRun) return;
  home = new Home();
  const up = await startSimulated(home, 2);
  await kubectl.ok("create", "deployment", "web", "--image=example/web:1", "--replicas=2");
  await kubectl.ok("rollout", "status", "deployment/web", "--timeout=100s");
  browser = await startBrowser();
  page = await openPage(/dashboard +(http\S+)/.exec(up.stdout)?.[1] ?? "");
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await home?.[Symbol.asyncDispose]();
  expect(complaints).toEqual([]);
});

const go = (path: string, on = page) => on.evaluate(`location.hash = ${JSON.stringify(path)}`);
const WEB = "#/object/apps/v1/deployments/default/web";

/** Opens the question of an action, changes its field, and lets it happen. */
async function act(title: string, subject: string, verb = title, value?: string): Promise<void> {
  await page.getByRole("toolbar", { name: "Actions" }).getByRole("button", { name: title, exact: true }).click();
  const question = page.getByRole("dialog", { name: `${title} ${subject}` });
  if (value !== undefined) await question.getByRole("textbox").fill(value);
  await question.getByText("The server would accept:").waitFor();
  await question.getByRole("button", { name: verb, exact: true }).click();
  await question.waitFor({ state: "detached" });
}

async function webIs(want: (web: Web) => unknown, value: unknown): Promise<void> {
  await expect
    .poll(async () => want((await kubectl.json("get", "deployment", "web")) as Web), { timeout: 60_000 })
    .toEqual(value);
}

interface Web {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly { readonly image: string }[] };
    };
  };
}

describe.skipIf(!canRun)("actions of the dashboard", () => {
  it("scales after a dry run, by keyboard; what the server refuses cannot be done", PATIENT, async () => {
    await go(WEB);
    const scale = page.getByRole("toolbar", { name: "Actions" }).getByRole("button", { name: "Scale" });
    await scale.focus();
    await page.keyboard.press("Enter");
    const question = page.getByRole("dialog", { name: "Scale web" });
    await question.getByText("Set the replicas to 2").waitFor();
    await question.getByRole("textbox", { name: "Replicas" }).fill("99999999999");
    await question.getByText("The server refuses a part:").waitFor();
    expect(await question.getByRole("button", { name: "Scale", exact: true }).isDisabled()).toBe(true);
    await question.getByRole("textbox", { name: "Replicas" }).fill("4");
    await question.getByText("Set the replicas to 4").waitFor();
    await webIs(({ spec }) => spec.replicas, 2);
    await page.keyboard.press("Enter");
    await question.waitFor({ state: "detached" });
    await webIs(({ spec }) => spec.replicas, 4);
  });

  it("restarts, rolls back, and compares the past", PATIENT, async () => {
    await kubectl.ok("set", "image", "deployment/web", "web=example/web:2");
    await kubectl.ok("rollout", "status", "deployment/web", "--timeout=100s");
    await act("Roll back", "web", "Roll back", "1");
    await webIs(({ spec }) => spec.template.spec.containers[0]?.image, "example/web:1");
    await act("Restart", "web");
    await webIs(
      ({ spec }) => Object.keys(spec.template.metadata.annotations ?? {}),
      ["kubectl.kubernetes.io/restartedAt"],
    );
    await page.getByRole("link", { name: "Past" }).click();
    await page.getByRole("button", { name: "Compare" }).click();
    // Five minutes ago there was nothing.
    const answer = page.getByRole("table", { name: "Side by side" }).or(page.getByRole("alert"));
    await answer.first().waitFor();
    const revision = ((await kubectl.json("get", "deployment", "web")) as { metadata: { resourceVersion: string } })
      .metadata.resourceVersion;
    await kubectl.ok("scale", "deployment/web", "--replicas=1");
    await page.getByRole("combobox", { name: "From" }).fill(revision);
    await page.getByRole("button", { name: "Compare" }).click();
    const removed = page.locator(".beside .removed").filter({ hasText: "replicas: 4" });
    await removed.first().waitFor();
    await page.locator(".beside .added").filter({ hasText: "replicas: 1" }).first().waitFor();
  });

  it("cordons and drains a node; deletes a Pod; debugs one", PATIENT, async () => {
    await go("#/object/-/v1/nodes/-/node-1");
    await act("Cordon", "node-1");
    const cordoned = async () =>
      ((await kubectl.json("get", "node", "node-1")) as { spec: { unschedulable?: boolean } }).spec.unschedulable;
    await expect.poll(cordoned).toBe(true);
    await act("Uncordon", "node-1");
    await expect.poll(cordoned).toBe(undefined);
    await act("Drain", "node-1");
    const onNode = async () => {
      const at = ["--field-selector", "spec.nodeName=node-1"];
      return ((await kubectl.json("get", "pods", ...at)) as { items: object[] }).items.length;
    };
    await expect.poll(onNode, { timeout: 60_000 }).toBe(0);
    await kubectl.ok("run", "one", "--image=example/one");
    await kubectl.ok("wait", "pod/one", "--for=condition=Ready", "--timeout=100s");
    await go("#/object/-/v1/pods/default/one");
    await act("Debug", "one", "Add the container", "example/tools");
    const added = async () =>
      ((await kubectl.json("get", "pod", "one")) as { spec: { ephemeralContainers?: { image: string }[] } }).spec
        .ephemeralContainers?.[0]?.image;
    await expect.poll(added).toBe("example/tools");
    await act("Delete", "one");
    await page.getByText("There is no such object any more").waitFor({ timeout: 90_000 });
  });

  it("explains why a Pod does not run", PATIENT, async () => {
    const selector = JSON.stringify({ spec: { nodeSelector: { disk: "fast" } } });
    await kubectl.ok("run", "stuck", "--image=example/x", `--overrides=${selector}`);
    await go("#/object/-/v1/pods/default/stuck/why");
    await page
      .getByRole("region", { name: "Why" })
      .getByText(/selector|affinity/i)
      .first()
      .waitFor();
  });

  it("has no actions for a user who may only read", PATIENT, async () => {
    const own = await openPage(await viewerLink(home, kubectl));
    const asked: string[] = [];
    own.on("response", (response) => {
      if (response.url().endsWith("selfsubjectaccessreviews")) asked.push(response.url());
    });
    await go(WEB, own);
    await own.getByRole("heading", { name: "web" }).waitFor();
    // Scale, restart, roll back and delete were asked about, and denied.
    await expect.poll(() => asked.length).toBeGreaterThanOrEqual(4);
    expect(await own.getByRole("toolbar", { name: "Actions" }).count()).toBe(0);
  });
});
