/** Devices, the parts of the cluster, two moments side by side, in Chromium: as the admin, and as one who may only read. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserPath, startBrowser } from "../support/browser.ts";
import { furnish } from "../support/furnished.ts";
import { Home } from "../support/k8ts.ts";
import { REACHABLE, type Reachable } from "../support/reachable.ts";
import { CommandLine, tool } from "../support/tools.ts";
import { viewerLink } from "../support/viewer.ts";

const program = tool("kubectl");
const canRun = program !== undefined && browserPath() !== undefined;
const PATIENT = { timeout: 180_000 };
let home: Home;
let browser: Browser;
let page: Page;
/** Who may only read. */
let viewer: Page;
let before = 0;
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
  const nodes = ["--runtime", "simulated", "--nodes", "2"];
  const up = await home.k8ts("up", "--port", "0", ...nodes, "--detach");
  if (up.code !== 0) throw new Error(up.stderr);
  before = (await furnish(home, kubectl)).before;
  browser = await startBrowser();
  page = await openPage(/dashboard +(http\S+)/.exec(up.stdout)?.[1] ?? "");
  viewer = await openPage(await viewerLink(home, kubectl));
}, 180_000);
afterAll(async () => {
  await browser?.close();
  await home?.[Symbol.asyncDispose]();
  expect(complaints).toEqual([]);
});

const go = (path: string, on = page) => on.evaluate(`location.hash = ${JSON.stringify(path)}`);
const row = (label: string, text: RegExp, on = page) =>
  on.getByRole("grid", { name: label }).getByRole("row").filter({ hasText: text });
const there = (label: string, text: RegExp, on = page) => row(label, text, on).first().waitFor();
const url = () => page.evaluate("location.hash");
const compared = () => `#/compare?from=${before}&to=now&namespace=default`;

describe.skipIf(!canRun)("devices, cluster, compare", () => {
  it(
    "devices: who holds them, what they are, their taints; live; by keyboard to a claim and why",
    PATIENT,
    async () => {
      await go("#/devices");
      await there(
        "Devices",
        /gpu-0.*node-\d.*in use.*training.*gpu\.example\.com.*cores=108, model=a100.*memory 40Gi/s,
      );
      await there("Devices", /hot-0.*node-1.*tainted.*none.*hot=92:NoSchedule/s);
      expect(await row("Devices", /free/).count()).toBe(7);
      await page.getByRole("link", { name: "Extended resources" }).click();
      await there("Extended resources", /example\.com\/fpga.*1 of 1.*fast/s);
      await page.getByRole("link", { name: "Claims", exact: true }).click();
      await there("Claims", /training.*reserved.*2 × a100.*node-\d\/gpu-\d, node-\d\/gpu-\d.*train/s);
      await there("Claims", /greedy.*pending.*32 × a100/s);
      await kubectl.ok("delete", "pod", "train", "--now");
      await there("Claims", /training.*pending.*2 × a100.*none/s);
      await page.evaluate("document.activeElement.blur()");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "greedy" }).waitFor();
      await go("#/devices?of=claims");
      await page.getByRole("link", { name: "Why greedy" }).click();
      await page
        .getByRole("region", { name: "Why" })
        .getByRole("heading", { name: /greedy/ })
        .waitFor();
    },
  );

  it("two moments of a namespace: what came, went and changed; one of it side by side", PATIENT, async () => {
    await go("#/compare");
    await page.getByRole("combobox", { name: "Namespace" }).selectOption("default");
    await page.getByRole("combobox", { name: "From" }).fill(String(before));
    await page.keyboard.press("Enter");
    for (const text of [
      /added.*ConfigMap.*fresh/s,
      /removed.*ConfigMap.*old/s,
      /changed.*Deployment.*web.*and \d+ more/s,
      /changed.*Secret.*hidden.*data\.password: 9 bytes → 15 bytes/s,
    ])
      await there("Changes", text);
    // Events and Leases are written all the time.
    expect(await row("Changes", /Event|Lease/).count()).toBe(0);
    await expect.poll(url).toContain(`from=${before}`);
    await row("Changes", /Deployment/).click();
    const fields = page.getByRole("table", { name: "Fields" });
    await fields
      .getByRole("row")
      .filter({ hasText: /containers\[app\]\.image\s*app:1\s*app:2/ })
      .first()
      .waitFor();
    const beside = page.getByRole("table", { name: "Side by side" });
    await beside.locator(".removed").getByText("image: app:1").waitFor();
    await beside.locator(".added").getByText("image: app:2").waitFor();
    expect(await beside.getByText("resourceVersion").count()).toBe(0);
    // A link leads there, too.
    await page.reload();
    await beside.locator(".added").getByText("image: app:2").waitFor();
    await page.getByRole("link", { name: "Compare" }).last().click();
    await there("Changes", /ConfigMap.*fresh/s);
    await page.getByRole("combobox", { name: "to" }).fill("tomorrow");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByRole("alert").getByText("tomorrow").waitFor();
  });

  it("the parts of the cluster: versions, servers, store, nodes, certificates", PATIENT, async () => {
    await go("#/cluster");
    const part = (name: string) => page.getByRole("region", { name });
    await part("Versions").getByText("API server, controllers, scheduler, 2 kubelets").waitFor();
    await part("API servers").getByText("renewed").waitFor();
    await part("Store")
      .getByRole("row")
      .filter({ hasText: /embedded.*leader.*healthy/s })
      .first()
      .waitFor();
    await part("Nodes")
      .getByRole("row")
      .filter({ hasText: /node-1.*Ready/s })
      .first()
      .waitFor();
    await part("Nodes")
      .getByRole("row")
      .filter({ hasText: /ghost.*NotReady, cordoned/s })
      .first()
      .waitFor();
    await part("Certificates of this machine")
      .getByRole("row")
      .filter({ hasText: /apiserver.*\d+ days/s })
      .first()
      .first()
      .waitFor();
    await kubectl.ok("uncordon", "ghost");
    await part("Nodes").getByText("NotReady, cordoned").waitFor({ state: "detached" });
  });

  it("who may only read sees what the rights allow, and what they do not", PATIENT, async () => {
    await go("#/cluster", viewer);
    await viewer.getByText(/Forbidden: nodes is forbidden/).waitFor();
    await viewer.getByText("They are shown to the cluster's admin.").waitFor();
    expect(await viewer.getByText(/apiserver kubelet client|embedded/).count()).toBe(0);
    await go("#/devices?of=claims&namespace=default", viewer);
    await there("Claims", /greedy.*pending/s, viewer);
    await go("#/devices", viewer);
    await viewer.getByText(/Forbidden: .*resourceslices/).waitFor();
    await go(compared(), viewer);
    await viewer
      .getByRole("alert")
      .or(viewer.getByText(/^Not compared/))
      .first()
      .first()
      .waitFor();
    expect(await viewer.getByText("password").count()).toBe(0);
  });

  it("all of these fit both widths, in both themes, with a name for everything", PATIENT, async () => {
    await go("#/object/-/v1/services/default/web");
    await page.getByRole("toolbar", { name: "Actions" }).getByRole("button", { name: "Forward" }).click();
    const question = page.getByRole("dialog", { name: "Forward a port of web" });
    await question.getByRole("button", { name: "Open" }).click();
    await question.getByRole("link", { name: /127\.0\.0\.1/ }).waitFor();
    await page.keyboard.press("Escape");
    const all = "namespace=*";
    const paths = [
      ...["#/cluster", "#/devices", `#/devices?of=claims&${all}`, "#/devices?of=extended", "#/images", "#/forwards"],
      ...[compared(), `${compared()}&of=apps/v1/deployments/default/web`, `#/volumes?${all}`, "#/volumes?of=capacity"],
      ...[`#/releases?${all}`, "#/releases?release=default/shop&of=changes"],
    ];
    for (const width of [1280, 390])
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        for (const path of paths) {
          await go(path);
          await page.locator("main h1").waitFor();
          const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
          expect(wide, `${path} at ${width}`).toBe(false);
          const found = (await page.evaluate(REACHABLE)) as Reachable;
          expect(found, path).toMatchObject({ nameless: [], headings: 1, lists: 0 });
        }
      }
  });
});
