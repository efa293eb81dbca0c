/**
 * The dashboard in Chromium with 5,000 Pods, of which 1,000 change each second while the table is scrolled without a
 * pause: how long the page is busy at a time, and how many frames it shows. The bound is the same table, scrolled while
 * nothing changes.
 */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { realClock, silentLogger } from "#base";
import { startDashboard } from "#dashboard";
import { bundleDashboard } from "../scripts/bundle-dashboard.ts";
import { FakeApi } from "../src/dashboard/testing/fake-api.ts";
import { startBrowser } from "../test/support/browser.ts";
import { podAt } from "./dashboard/pods.ts";
import type { Figure } from "./run.ts";

const PODS = 5000;
const CHANGES_PER_SECOND = 1000;
const SECONDS = 8;
const BATCH_MS = 20;

export async function run(report: (figure: Figure) => void): Promise<void> {
  const root = join(import.meta.dirname, "..");
  await bundleDashboard(root);
  const clock = realClock();
  await using api = await FakeApi.start(answer);
  const assets = join(root, "dist/dashboard");
  const options = { clock, log: silentLogger, port: 0, assets, upstream: async () => api.upstream };
  const dashboard = await startDashboard(options);
  const browser = await startBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(dashboard.newLink());
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.evaluate(WATCH_TASKS);
    const started = performance.now();
    await page.evaluate("location.hash = '#/pods'");
    await page.locator(".count", { hasText: /^5000$/ }).waitFor();
    report({ name: `${PODS} Pods listed`, value: performance.now() - started, unit: "ms" });
    report({ name: "tasks over 50 ms while listing", value: await longTasks(page), unit: "tasks" });

    const still = await scrolled(page);
    const changing = new AbortController();
    const changes = change(api, changing.signal);
    const busy = await scrolled(page);
    changing.abort();
    const sent = await changes;
    const perSecond = sent / SECONDS;
    report({ name: "changes sent while scrolling", value: perSecond, unit: "/s" });
    report({ name: "frames while scrolling", value: busy.frames / SECONDS, unit: "/s", bound: still.frames / SECONDS });
    report({ name: "longest wait for a task", value: busy.longest, unit: "ms", bound: still.longest });
    report({ name: "tasks over 50 ms", value: busy.long, unit: "tasks" });
    report({ name: "rows in the document", value: busy.rows, unit: "rows" });
    report({ name: "memory of the page's script", value: busy.megabytes, unit: "MB" });
  } finally {
    await browser.close();
    await dashboard.close();
  }

  function change(server: FakeApi, signal: AbortSignal): Promise<number> {
    let revision = PODS + 1;
    let sent = 0;
    const began = clock.monotonic();
    return new Promise((resolve) => {
      const send = () => {
        if (signal.aborted) return resolve(sent);
        const due = ((clock.monotonic() - began) / 1000) * CHANGES_PER_SECOND;
        const watch = server.watches.findLast((each) => each.req.url?.startsWith("/api/v1/pods?") && !each.destroyed);
        let text = "";
        for (; sent < due; sent++) {
          const object = podAt((sent * 37) % PODS, ++revision, sent % 3 === 0 ? "Pending" : "Running");
          text += `${JSON.stringify({ type: "MODIFIED", object })}\n`;
        }
        watch?.write(text);
        clock.timer(BATCH_MS, send);
      };
      send();
    });
  }
}

function answer(url: string): string {
  const query = new URL(url, "https://api").searchParams;
  if (!url.startsWith("/api/v1/pods?")) return JSON.stringify({ metadata: { resourceVersion: "1" }, items: [] });
  const [from, limit] = [Number(query.get("continue") ?? 0), Number(query.get("limit"))];
  const to = Math.min(PODS, from + limit);
  const items = Array.from({ length: to - from }, (_, at) => podAt(from + at, from + at + 1, "Running"));
  const metadata = { resourceVersion: String(PODS), ...(to < PODS && { continue: String(to) }) };
  return JSON.stringify({ metadata, items });
}

/**
 * Tasks of more than 50 ms, as the browser reports them; and how long a message waited at most until it was its turn.
 */
const WATCH_TASKS = `
  globalThis.tasks = [];
  new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries().map(({ duration }) => duration)))
    .observe({ type: "longtask", buffered: false });
  globalThis.busiest = 0;
  const channel = new MessageChannel();
  let last = performance.now();
  channel.port1.onmessage = () => {
    const now = performance.now();
    globalThis.busiest = Math.max(globalThis.busiest, now - last);
    last = now;
    setTimeout(() => { last = performance.now(); channel.port2.postMessage(0); }, 4);
  };
  channel.port2.postMessage(0);
`;

async function longTasks(page: Page): Promise<number> {
  return (await page.evaluate("globalThis.tasks.length")) as number;
}

interface Scrolled {
  readonly frames: number;
  readonly longest: number;
  readonly long: number;
  readonly rows: number;
  readonly megabytes: number;
}

async function scrolled(page: Page): Promise<Scrolled> {
  return (await page.evaluate(`new Promise((resolve) => {
    globalThis.tasks.length = 0;
    globalThis.busiest = 0;
    const table = document.querySelector(".table");
    const end = performance.now() + ${SECONDS * 1000};
    let frames = 0;
    let step = 90;
    requestAnimationFrame(function next() {
      frames += 1;
      if (table.scrollTop + table.clientHeight >= table.scrollHeight - 1) step = -90;
      if (table.scrollTop === 0) step = 90;
      table.scrollTop += step;
      if (performance.now() < end) requestAnimationFrame(next);
      else resolve({
        frames,
        longest: Math.max(globalThis.busiest, ...globalThis.tasks),
        long: globalThis.tasks.length,
        rows: table.querySelectorAll(".row").length,
        megabytes: performance.memory.usedJSHeapSize / 1e6,
      });
    });
  })`)) as Scrolled;
}
