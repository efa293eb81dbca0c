/** Usage, autoscalers and storage in Chromium, on a cluster with simulated nodes. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserPath, startBrowser } from "../support/browser.ts";
import { Home } from "../support/k8ts.ts";
import { QUICK_FIGURES, startSimulated } from "../support/simulated.ts";
import { CommandLine, tool } from "../support/tools.ts";

const program = tool("kubectl");
const canRun = program !== undefined && browserPath() !== undefined;
const PATIENT = { timeout: 180_000 };
let home: Home;
let browser: Browser;
let page: Page;
const kubectl = new CommandLine(program, () => home);
const complaints: string[] = [];

const labels = { app: "web" };
const storageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "late" },
  provisioner: "disk.example.com",
  volumeBindingMode: "WaitForFirstConsumer",
};
const claim = (name: string, storageClassName: string) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name },
  spec: { storageClassName, accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
});
const volume = {
  apiVersion: "v1",
  kind: "PersistentVolume",
  metadata: { name: "by-hand" },
  spec: {
    storageClassName: "manual",
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    hostPath: { path: "/x" },
  },
};
const user = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "user" },
  spec: {
    containers: [{ name: "c", image: "x:1" }],
    volumes: [{ name: "v", persistentVolumeClaim: { claimName: "kept" } }],
  },
};
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels, annotations: { "simulated.k8ts.io/cpu-usage": "90%" } },
      spec: {
        containers: [{ name: "main", image: "web:1", resources: { requests: { cpu: "200m", memory: "64Mi" } } }],
      },
    },
  },
};

beforeAll(async () => {
  if (!canRun) return;
  home = new Home();
  const up = await startSimulated(home, 2, ...QUICK_FIGURES);
  await kubectl
    .given(deployment, storageClass, claim("late", "late"), claim("kept", "manual"), volume, user)
    .ok("create", "-f", "-");
  await kubectl.ok("autoscale", "deployment", "web", "--cpu=50%", "--min=1", "--max=3");
  browser = await startBrowser();
  page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  page.setDefaultTimeout(90_000);
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
const row = (label: string, text: string | RegExp) =>
  page.getByRole("grid", { name: label }).getByRole("row").filter({ hasText: text });

describe.skipIf(!canRun)("figures in the dashboard", () => {
  it("usage of nodes, Pods and workloads has sparklines", PATIENT, async () => {
    await go("#/nodes");
    await row("Nodes", "node-1")
      .getByRole("img", { name: /^CPU: 0\.\d+, at most/ })
      .waitFor();
    await go("#/pods");
    await row("Pods", /^web-/)
      .first()
      .getByRole("img", { name: /^CPU: 0\.18/ })
      .waitFor();
    await go("#/workloads");
    await row("Workloads", "web")
      .getByRole("img", { name: /^CPU: 0\.\d+/ })
      .waitFor();
    await go("#/object/apps/v1/deployments/default/web");
    await page.getByRole("img", { name: /^CPU: .* cores, requested/ }).waitFor();
  });

  it("the page of an autoscaler draws metric, target and replicas, and says why; by keyboard", PATIENT, async () => {
    await go("#/overview");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("h");
    await row("Autoscalers", /web.*cpu: 90% \/ 50%.*TooManyReplicas/).waitFor();
    await page.getByRole("grid", { name: "Autoscalers" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("img", { name: "cpu: 90%, target 50%" }).waitFor();
    await page.getByRole("img", { name: "Replicas: 3, at most 3" }).waitFor();
    const why = page.getByRole("region", { name: "Why" });
    await why.getByText("hpa/web wants 3 replicas of deployment/web").waitFor();
    await why.getByText("raise spec.maxReplicas").waitFor();
    await page.getByRole("link", { name: "YAML" }).waitFor();
  });

  it("storage: claims, their chain, and why one is not bound", PATIENT, async () => {
    await go("#/volumes");
    await row("Claims", /kept.*Bound.*1Gi.*manual/).waitFor();
    await row("Claims", /late.*Pending/).waitFor();
    for (const [title, label, text] of [
      ["Volumes", "Volumes", /by-hand.*Bound.*default\/kept.*host path/],
      ["Classes", "Classes", /late.*disk\.example\.com.*WaitForFirstConsumer/],
    ] as const) {
      await page.getByRole("navigation", { name: "Parts of storage" }).getByRole("link", { name: title }).click();
      await row(label, text).waitFor();
    }
    for (const title of ["Attachments", "Drivers of nodes", "Capacity"]) {
      await page.getByRole("navigation", { name: "Parts of storage" }).getByRole("link", { name: title }).click();
      await page.getByRole("grid", { name: title }).waitFor();
    }
    await go("#/object/-/v1/persistentvolumeclaims/default/kept");
    const chain = page.getByRole("list", { name: "From the claim to its Pods" });
    await chain.filter({ hasText: /Claim.*Class.*manual.*Volume.*by-hand.*Node.*node-\d.*Pod.*user/s }).waitFor();
    await go("#/object/-/v1/persistentvolumeclaims/default/late");
    await page.getByRole("region", { name: "Why" }).getByRole("heading", { name: "no Pod uses it" }).waitFor();
  });

  it("fits both widths, in both themes", PATIENT, async () => {
    const hpa = "#/object/autoscaling/v2/horizontalpodautoscalers/default/web";
    const kept = "#/object/-/v1/persistentvolumeclaims/default/kept";
    const paths = ["#/nodes", "#/workloads", "#/pods", "#/autoscalers", "#/volumes", "#/volumes?of=nodes", hpa, kept];
    for (const width of [1280, 390])
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        for (const path of paths) {
          await go(path);
          await page.locator("main h1").waitFor();
          const wide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
          expect(wide, `${path} at ${width}`).toBe(false);
        }
      }
  });
});
